package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** The last records of the kernel log of this boot, as lines with their times. */
public final class KernelLogTail {

    private KernelLogTail() {}

    /**
     * Reads the log from the boot to now. Takes as long as {@link KernelLogScan}.
     *
     * @param wanted selects records by their text
     * @param most largest number of lines
     * @return the last lines that were selected; absent with the cause if the log cannot be read
     */
    public static Reading<List<String>> read(
            KernelLogSettings settings, NodePaths paths, Predicate<String> wanted, int most) {
        if (!settings.readsLog()) {
            return Reading.absent(Absence.OFF, 0, settings.off());
        }
        Boot boot = new Boot(paths.procfs(), Clock.systemUTC());
        SourceSelector.Choice choice =
                new SourceSelector(settings, boot, Optional.empty()).choose(LogSource.Start.FIRST, false);
        if (choice.source().isEmpty()) {
            return Reading.absent(Absence.FAILED, 0, choice.why());
        }
        LogSource source = choice.source().get();
        if (source instanceof PipeSource) {
            return Reading.absent(Absence.FAILED, 0, source.name() + " is a pipe, which keeps nothing");
        }
        Last last = new Last(wanted, most);
        boolean whole = KernelLogScan.toEnd(source, last);
        if (last.lines.isEmpty() && !last.failure.isEmpty()) {
            return Reading.absent(Absence.FAILED, 0, last.failure);
        }
        return whole
                ? Reading.of(List.copyOf(last.lines))
                : Reading.absent(Absence.FAILED, 0, source.name() + " was not read to its end in time");
    }

    private static final class Last implements LogSource.Sink {

        private final Predicate<String> wanted;
        private final int most;
        private final Deque<String> lines = new ArrayDeque<>();
        private String failure = "";

        Last(Predicate<String> wanted, int most) {
            this.wanted = wanted;
            this.most = most;
        }

        @Override
        public void record(KernelRecord record, LogSource.Cursor behind) {
            if (wanted.test(record.text())) {
                lines.addLast(record.time() + " " + record.text());
                if (lines.size() > most) {
                    lines.removeFirst();
                }
            }
        }

        @Override
        public void gap(long lost, String why) {
            // The lines that are left are the last ones all the same.
        }

        @Override
        public void unreadable(String why) {
            failure = why;
        }

        @Override
        public void readable() {}
    }
}
