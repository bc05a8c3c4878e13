package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.LogParser;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.daemon.node.BootId;
import dev.gpuwarden.daemon.node.NodePaths;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Reads the kernel log of this boot once. */
public final class KernelLogScan {

    private static final Duration LONGEST = Duration.ofSeconds(20);

    private KernelLogScan() {}

    /**
     * What was found.
     *
     * @param faults current at the log's end, oldest first: not those that a reset ended, nor those that ask for no action and
     *     were long quiet
     * @param status absent where the user switched reading off; else how far the log could be read: {@code unreadable}, and gaps,
     *     of which one is what the ring has overwritten since the boot
     */
    public record Result(List<Fault> faults, Reading<KernelLogStatus> status) {}

    /**
     * Reads the log from the boot to now. Takes 0.2 s for the kernel's ring, a second for a million lines of a file or a hundred
     * thousand of the journal, and 20 s at most, after which it says that it could not read further.
     *
     * @param others rules of other people that records are matched with too
     * @param node tells which GPU sits where; a look that was taken before
     * @throws dev.gpuwarden.cli.UserError where settings or rules are wrong
     */
    public static Result sinceBoot(
            KernelLogSettings settings,
            RecordRules others,
            NodePaths paths,
            LogParser parser,
            NodeSnapshot node,
            String nodeName) {
        return sinceBoot(settings, others, paths, parser, node, nodeName, Clock.systemUTC());
    }

    static Result sinceBoot(
            KernelLogSettings settings,
            RecordRules others,
            NodePaths paths,
            LogParser parser,
            NodeSnapshot node,
            String nodeName,
            Clock clock) {
        settings.validate();
        if (!settings.readsLog()) {
            return new Result(List.of(), Reading.absent(Absence.NOT_SUPPORTED, 0, settings.off()));
        }
        String bootId = BootId.read(paths.procfs());
        SourceSelector sources =
                new SourceSelector(settings, new BootClock(paths.procfs(), clock), bootId, Optional.empty());
        LogCounts counts = new LogCounts();
        LogProgress progress = new LogProgress(counts, clock.instant());
        EventBatcher tallies = new EventBatcher(nodeName, () -> bootId, settings.stormWindow);
        GpuNames names = new GpuNames(() -> GpuNames.of(node), System::nanoTime);
        KernelMessageClassifier interpreter = new KernelMessageClassifier(
                nodeName, parser, settings.rules(), names, tallies, counts, clock, System::nanoTime);
        interpreter.alsoMatch(others);
        Reader reader = new Reader(interpreter, tallies, progress, clock);
        SourceSelector.Choice choice = sources.choose(LogSource.Start.FIRST, false);
        if (choice.source().isEmpty()) {
            progress.unreadable(choice.why());
        } else {
            read(choice.source().get(), reader, progress);
        }
        return new Result(reader.current(settings.quiet), progress.status(tallies.collapsed()));
    }

    private static void read(LogSource source, Reader reader, LogProgress progress) {
        progress.source(source.name());
        if (source instanceof PipeSource) {
            progress.unreadable(source.name() + " is a pipe, which keeps nothing");
            return;
        }
        ScheduledExecutorService deadline = Executors.newSingleThreadScheduledExecutor(body -> {
            Thread thread = new Thread(body, "gpuwarden-kernel-log-deadline");
            thread.setDaemon(true);
            return thread;
        });
        try {
            boolean[] late = new boolean[1];
            var closing = deadline.schedule(
                    () -> {
                        late[0] = true;
                        source.close();
                    },
                    LONGEST.toMillis(),
                    TimeUnit.MILLISECONDS);
            source.read(reader);
            if (!closing.cancel(false) && late[0]) {
                progress.unreadable("not read to its end within " + LONGEST.toSeconds() + " s");
            }
        } finally {
            deadline.shutdownNow();
        }
    }

    private static final class Reader implements LogSource.Sink {
        private final KernelMessageClassifier interpreter;
        private final EventBatcher tallies;
        private final LogProgress progress;
        private final Clock clock;
        private final FaultTable table = new FaultTable();
        private long sequence;

        Reader(KernelMessageClassifier interpreter, EventBatcher tallies, LogProgress progress, Clock clock) {
            this.interpreter = interpreter;
            this.tallies = tallies;
            this.progress = progress;
            this.clock = clock;
        }

        @Override
        public void record(KernelRecord record, LogSource.Cursor behind) {
            interpreter.read(record, behind);
            if (tallies.many()) {
                apply(tallies.take(System.nanoTime()));
            }
        }

        private void apply(List<HealthEvent> events) {
            for (HealthEvent event : FaultPolicy.neverLess(events, table.faults())) {
                table.apply(event, ++sequence, event.generated());
            }
        }

        List<Fault> current(Duration quiet) {
            apply(tallies.take(System.nanoTime()));
            Instant now = clock.instant();
            apply(FaultPolicy.lifts(table.faults(), List.of(), quiet, now));
            return table.faults();
        }

        @Override
        public void gap(long lost, String why) {
            progress.gap(lost, why, clock.instant());
        }

        @Override
        public void unreadable(String why) {
            progress.unreadable(why);
        }

        @Override
        public void readable() {
            progress.readable();
        }
    }
}
