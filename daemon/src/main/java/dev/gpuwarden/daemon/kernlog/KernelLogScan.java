package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.util.Threads;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** One reading of the kernel log of this boot, without a store. */
public final class KernelLogScan {

    private static final Duration LONGEST = Duration.ofSeconds(20);

    private KernelLogScan() {}

    /**
     * The result of a scan.
     *
     * @param faults the current faults at the log's end, oldest first: without those that a reset cleared, and those that ask for
     *     no action and have been quiet for long enough
     * @param status absent where the settings switch reading off; else with {@code unreadable}, and gaps, of which one is the
     *     records that the ring has overwritten since the boot
     */
    public record Result(List<Fault> faults, Reading<KernelLogStatus> status) {}

    /**
     * Reads the log from the boot to now. Takes 0.2 s for the kernel's ring, a second for a million lines of a file or a hundred
     * thousand of the journal. After 20 s it stops, and the status is unreadable.
     *
     * @param others more rules to match records with
     * @param node a snapshot, for the addresses of the GPUs
     * @throws dev.gpuwarden.cli.UserError where settings or rules are wrong
     */
    public static Result sinceBoot(
            KernelLogSettings settings,
            RecordRules others,
            NodePaths paths,
            KernelLogParser parser,
            NodeSnapshot node,
            String nodeName) {
        settings.validate();
        if (!settings.readsLog()) {
            return new Result(List.of(), Reading.absent(Absence.NOT_SUPPORTED, 0, settings.off()));
        }
        Clock clock = Clock.systemUTC();
        Boot boot = new Boot(paths.procfs(), clock);
        KernelLogStats.Counters counters = new KernelLogStats.Counters(clock.instant());
        GpuNames names = new GpuNames(() -> GpuNames.of(node), System::nanoTime);
        KernelMessageClassifier classifier =
                new KernelMessageClassifier(nodeName, parser, settings.rules(), names, counters, clock);
        classifier.alsoMatch(others);
        Reader reader = new Reader(
                classifier,
                boot,
                new EventBatcher(settings.stormWindow, System::nanoTime),
                counters,
                clock,
                new FaultTable(),
                new EndedFaults(),
                new AtomicLong());
        SourceSelector.Choice choice =
                new SourceSelector(settings, boot, Optional.empty()).choose(LogSource.Start.FIRST, false);
        if (choice.source().isEmpty()) {
            counters.unreadable(choice.why());
        } else {
            read(choice.source().get(), reader, counters);
        }
        return new Result(reader.current(settings.quiet), counters.status(reader.batcher.collapsed()));
    }

    private static void read(LogSource source, Reader reader, KernelLogStats.Counters counters) {
        counters.source(source.name());
        if (source instanceof PipeSource) {
            counters.unreadable(source.name() + " is a pipe, which keeps nothing");
        } else if (!toEnd(source, reader)) {
            counters.unreadable("not read to its end within " + LONGEST.toSeconds() + " s");
        }
    }

    /** Reads a source that does not follow to its end. Returns false if the time was over before. */
    static boolean toEnd(LogSource source, LogSource.Sink sink) {
        ScheduledExecutorService deadline =
                Executors.newSingleThreadScheduledExecutor(Threads.daemon("gpuwarden-kernel-log-deadline"));
        try {
            boolean[] late = new boolean[1];
            var closing = deadline.schedule(
                    () -> {
                        late[0] = true;
                        source.close();
                    },
                    LONGEST.toMillis(),
                    TimeUnit.MILLISECONDS);
            source.read(sink);
            return closing.cancel(false) || !late[0];
        } finally {
            deadline.shutdownNow();
        }
    }

    private record Reader(
            KernelMessageClassifier classifier,
            Boot boot,
            EventBatcher batcher,
            KernelLogStats.Counters counters,
            Clock clock,
            FaultTable table,
            EndedFaults ended,
            AtomicLong sequence)
            implements LogSource.Sink {

        @Override
        public void record(KernelRecord record, LogSource.Cursor behind) {
            batcher.add(classifier.classify(record), boot.id(), behind);
            if (batcher.isFull()) {
                apply(batcher.flush());
            }
        }

        private void apply(List<HealthEvent> events) {
            List<Fault> current = table.faults();
            for (HealthEvent event : FaultPolicy.keepFatal(ended.narrow(events, current, clock.instant()), current)) {
                table.apply(event, sequence.incrementAndGet(), event.generated());
            }
        }

        List<Fault> current(Duration quiet) {
            apply(batcher.flush());
            Instant now = clock.instant();
            apply(FaultPolicy.clearQuiet(table.faults(), List.of(), quiet, now));
            return table.faults();
        }

        @Override
        public void gap(long lost, String why) {
            counters.gap(lost, why, clock.instant());
        }

        @Override
        public void unreadable(String why) {
            counters.unreadable(why);
        }

        @Override
        public void readable() {
            counters.readable();
        }
    }
}
