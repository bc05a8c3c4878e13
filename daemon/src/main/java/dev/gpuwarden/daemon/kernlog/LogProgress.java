package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelLogStatus.Gap;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Instant;
import java.util.Optional;

/** How reading goes. Written by the thread that reads, read by any. */
final class LogProgress {

    private final LogCounts counts;
    private final Instant since;
    private String source = "";
    private long gaps;
    private long lost;
    private Optional<Gap> lastGap = Optional.empty();
    private Optional<String> unreadable = Optional.empty();
    private boolean opened;
    private Optional<String> lastError = Optional.empty();

    LogProgress(LogCounts counts, Instant since) {
        this.counts = counts;
        this.since = since;
    }

    synchronized void source(String name) {
        source = name;
    }

    synchronized void gap(long records, String why, Instant now) {
        gaps++;
        lost += records;
        lastGap = Optional.of(new Gap(now, records, why));
    }

    /** @return whether this is news */
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

    /** Something went wrong that does not keep the log from being read. */
    synchronized void error(String what) {
        lastError = Optional.of(what);
    }

    /** PENDING until it is known whether the log can be read. */
    synchronized Reading<KernelLogStatus> status(long collapsed) {
        if (!opened) {
            return Reading.absent(Absence.PENDING, 0, "the kernel log");
        }
        return Reading.of(new KernelLogStatus(
                source,
                since,
                counts.records(),
                gaps,
                lost,
                lastGap,
                counts.forgedRecords(),
                collapsed,
                unreadable,
                lastError));
    }
}
