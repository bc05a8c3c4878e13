package dev.gpuwarden.core.kernel;

import java.time.Instant;
import java.util.Optional;

/**
 * How reading the kernel log goes.
 *
 * @param source what is read, for people: "/dev/kmsg", "journald", a file's path
 * @param since when reading it began
 * @param records how many were read since then
 * @param gaps how often records of this boot were gone before they could be read
 * @param lost how many records are known to be gone; a gap whose size nobody can tell adds nothing
 * @param lastGap the newest of the gaps
 * @param forged records that say what only the kernel may say, from somebody else; refused
 * @param collapsed repetitions that were told as a number with the event that they repeat
 * @param unreadable why the log cannot be read now; empty while it can
 * @param lastError the newest thing that went wrong, mended or not
 */
public record KernelLogStatus(
        String source,
        Instant since,
        long records,
        long gaps,
        long lost,
        Optional<Gap> lastGap,
        long forged,
        long collapsed,
        Optional<String> unreadable,
        Optional<String> lastError) {

    /**
     * Records that nobody will read any more.
     *
     * @param seen when that was noticed
     * @param lost how many, as far as known; 0 where nobody can tell
     * @param why what happened to them
     */
    public record Gap(Instant seen, long lost, String why) {}
}
