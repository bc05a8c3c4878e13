package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelLogStatus.Gap;
import dev.gpuwarden.core.kernel.KernelLogStatus.Unread;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Instant;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The counts of the kernel-log monitor since the daemon's start.
 *
 * @param records read records by writer
 * @param signals recognised messages by code, without refused records
 * @param silent signals without an event: no fault, or ignored by a rule
 * @param suppressed signals that repeat an XID in other words
 * @param events events that were handed to the store
 * @param unstored events of these that the store could not write immediately
 * @param patternsCutOff records on which a user's pattern exceeded its limit
 * @param status absent where no log is read
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

    /** The counters behind the statistics and the status. Thread-safe; one thread writes. */
    static final class Counters {

        /** The bound of counted codes: those of catalogues and rules, and unknown ones of future drivers. */
        private static final int MOST_CODES = 1024;

        private final Instant since;
        private final Map<Writer, Long> records = new EnumMap<>(Writer.class);
        private final Map<Code, Long> signals = new LinkedHashMap<>();
        private long all;
        private long forged;
        private long unread;
        private Optional<Unread> lastUnread = Optional.empty();
        private long suppressed;
        private long silent;
        private String source = "";
        private long gaps;
        private long lost;
        private Optional<Gap> lastGap = Optional.empty();
        private Optional<String> unreadable = Optional.empty();
        private boolean opened;
        private Optional<String> lastError = Optional.empty();

        Counters(Instant since) {
            this.since = since;
        }

        synchronized void record(Writer writer) {
            records.merge(writer, 1L, Long::sum);
            all++;
        }

        synchronized void signal(Signal signal) {
            code(new Code(signal.kind().label(), signal.code()));
        }

        synchronized void pattern(String code) {
            code(new Code("pattern", code));
        }

        private void code(Code code) {
            boolean room = signals.size() < MOST_CODES || signals.containsKey(code);
            signals.merge(room ? code : new Code(code.kind(), "other"), 1L, Long::sum);
        }

        synchronized void forged() {
            forged++;
        }

        /** Counts a record about an XID that no known form fits. */
        synchronized void unread(String text, Instant now) {
            unread++;
            lastUnread = Optional.of(new Unread(now, text));
        }

        /** Counts a signal that repeats an XID. */
        synchronized void suppressed() {
            suppressed++;
        }

        /** Counts a signal that makes no event. */
        synchronized void silent() {
            silent++;
        }

        synchronized void source(String name) {
            source = name;
        }

        /** @param records the number of lost records; 0 where it is unknown */
        synchronized void gap(long records, String why, Instant now) {
            gaps++;
            lost += records;
            lastGap = Optional.of(new Gap(now, records, why));
        }

        /** Returns whether the reason is a new one. */
        synchronized boolean unreadable(String why) {
            opened = true;
            boolean news = !unreadable.equals(Optional.of(why));
            unreadable = Optional.of(why);
            lastError = unreadable;
            return news;
        }

        synchronized void readable() {
            opened = true;
            unreadable = Optional.empty();
        }

        /** Records an error in spite of which the log can be read. */
        synchronized void error(String text) {
            lastError = Optional.of(text);
        }

        /** Returns the status; PENDING until a source was opened or failed to open. */
        synchronized Reading<KernelLogStatus> status(long collapsed) {
            if (!opened) {
                return Reading.absent(Absence.PENDING, 0, "the kernel log");
            }
            return Reading.of(new KernelLogStatus(
                    source,
                    since,
                    all,
                    gaps,
                    lost,
                    lastGap,
                    forged,
                    unread,
                    lastUnread,
                    collapsed,
                    unreadable,
                    lastError));
        }

        synchronized KernelLogStats stats(
                long events, long unstored, long patternsCutOff, Reading<KernelLogStatus> status) {
            return new KernelLogStats(
                    new EnumMap<>(records),
                    new LinkedHashMap<>(signals),
                    silent,
                    suppressed,
                    events,
                    unstored,
                    patternsCutOff,
                    status);
        }
    }
}
