package dev.gpuwarden.daemon.recorder;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.util.Text;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/** The last lines of the kernel log, as many as fit into {@value #MOST_CHARACTERS} characters. Thread-safe. */
public final class RecentKernelLines implements Consumer<KernelRecord> {

    static final int MOST_CHARACTERS = 64 * 1024;
    static final int LONGEST_LINE = 512;

    private final Deque<KernelRecord> lines = new ArrayDeque<>();
    private int characters;

    private final Clock clock;

    public RecentKernelLines(Clock clock) {
        this.clock = clock;
    }

    /** Adds a line. A time in the future, after the clock was set, is replaced by the time of reading. */
    @Override
    public synchronized void accept(KernelRecord written) {
        Instant now = clock.instant();
        KernelRecord kept = new KernelRecord(
                written.time().isAfter(now) ? now : written.time(),
                written.writer(),
                Text.truncate(written.text(), LONGEST_LINE));
        lines.addLast(kept);
        characters += kept.text().length();
        while (characters > MOST_CHARACTERS) {
            characters -= lines.removeFirst().text().length();
        }
    }

    /** Returns the lines of this period, oldest first, without lines that have no time. */
    synchronized List<KernelRecord> between(Instant from, Instant until) {
        return lines.stream()
                .filter(line -> !line.time().isBefore(from) && !line.time().isAfter(until))
                .toList();
    }
}
