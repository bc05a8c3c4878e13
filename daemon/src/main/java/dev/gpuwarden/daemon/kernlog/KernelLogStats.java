package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.model.Reading;
import java.util.Map;

/**
 * What reading the kernel log did, since the daemon's start.
 *
 * @param records by who wrote them
 * @param signals what was recognised, refused records left out
 * @param silent signals that made no event, since they tell of no fault or a rule ignores them
 * @param suppressed signals that said again what an Xid had said
 * @param events handed to the store
 * @param unstored of those, how many the store could not write at once
 * @param patternsCutOff records that a user's pattern took too long for
 * @param status absent where nobody reads the log
 */
public record KernelLogStats(
        Map<Writer, Long> records,
        Map<Code, Long> signals,
        long silent,
        long suppressed,
        long events,
        long unstored,
        long patternsCutOff,
        Reading<KernelLogStatus> status) {

    /** @param kind "xid", "sxid", "fallen_off_bus", "message", "pattern" and the like */
    public record Code(String kind, String code) {}
}
