package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * The boot that the kernel log is about: its id, and the wall time of its records.
 *
 * <p>The kernel stamps records with the time since boot. No time service corrects that clock, and it is off by minutes after
 * months. A record that was read as it was written corrects the offset.
 *
 * <p>Any thread may read the id. The other methods belong to the thread that reads the log.
 */
final class Boot {

    /** The words with which every kernel starts its log. */
    static final String FIRST_WORDS = "Linux version ";

    /** No reader waits this long within a backlog: the record that ends the wait was just written. */
    private static final Duration WAITED = Duration.ofSeconds(1);

    /** A larger difference is no drift. */
    private static final Duration MOST_DRIFT = Duration.ofHours(1);

    private final Path procfs;
    private final Clock clock;
    private volatile String id;
    private Instant start;

    Boot(Path procfs, Clock clock) {
        this.procfs = procfs;
        this.clock = clock;
        id = NodeFacts.bootId(procfs);
        start = startTime();
    }

    String id() {
        return id;
    }

    /** Returns whether another boot begins with this record. A simulated node reboots while the daemon runs. */
    boolean begins(KernelRecord record) {
        if (record.writer() != Writer.KERNEL || !record.text().startsWith(FIRST_WORDS)) {
            return false;
        }
        String now = NodeFacts.bootId(procfs);
        boolean other = !now.equals(id);
        id = now;
        return other;
    }

    Instant now() {
        return clock.instant();
    }

    /** Returns the wall time of a kernel time stamp; EPOCH where the node reports no boot time, and for an impossible stamp. */
    Instant at(long micros) {
        if (start.equals(Instant.EPOCH) || micros > Duration.ofDays(36500).toSeconds() * 1_000_000) {
            return Instant.EPOCH;
        }
        return start.plusNanos(Math.multiplyExact(micros, 1000));
    }

    /**
     * Corrects the offset between the kernel's clock and wall time.
     *
     * @param micros the record's time stamp, in microseconds since boot
     * @param waited the time for which the reader waited for the record
     */
    void arrived(long micros, Duration waited) {
        if (waited.compareTo(WAITED) < 0 || start.equals(Instant.EPOCH)) {
            return;
        }
        Instant seen = clock.instant().minusNanos(micros * 1000);
        if (Duration.between(start, seen).abs().compareTo(MOST_DRIFT) < 0) {
            start = seen;
        }
    }

    private Instant startTime() {
        try {
            String uptime = Files.readString(procfs.resolve("uptime")).trim().split(" ", 2)[0];
            return clock.instant().minusNanos(Math.round(Double.parseDouble(uptime) * 1e9));
        } catch (IOException | NumberFormatException e) {
            return Instant.EPOCH;
        }
    }
}
