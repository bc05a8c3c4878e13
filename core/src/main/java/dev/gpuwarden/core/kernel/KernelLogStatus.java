package dev.gpuwarden.core.kernel;

import java.time.Instant;
import java.util.Optional;

/**
 * The state of reading the kernel log.
 *
 * @param source the name of the source: "/dev/kmsg", "journald", a file's path
 * @param since the time at which reading began
 * @param records the number of records read since then
 * @param gaps the number of times that records of this boot were lost before they were read
 * @param lost the number of records known to be lost; a gap of unknown size adds nothing
 * @param lastGap the newest gap; empty without a gap
 * @param forged the number of refused records: they contain a message of the kernel and come from another writer
 * @param unread the number of records about an XID that no known form fits
 * @param lastUnread the newest of them; empty without one
 * @param collapsed the number of repetitions that became part of another event
 * @param unreadable the reason for which the log cannot be read now; empty while it can
 * @param lastError the newest error, also after it is over; empty without an error
 */
public record KernelLogStatus(
        String source,
        Instant since,
        long records,
        long gaps,
        long lost,
        Optional<Gap> lastGap,
        long forged,
        long unread,
        Optional<Unread> lastUnread,
        long collapsed,
        Optional<String> unreadable,
        Optional<String> lastError) {

    /**
     * Records that were lost before they were read.
     *
     * @param seen the time at which the loss was detected
     * @param lost the number of records; 0 where it is unknown
     * @param why the cause of the loss
     */
    public record Gap(Instant seen, long lost, String why) {}

    /**
     * A record about an XID that was not read.
     *
     * @param seen the time at which it was read
     * @param text the record, shortened
     */
    public record Unread(Instant seen, String text) {}
}
