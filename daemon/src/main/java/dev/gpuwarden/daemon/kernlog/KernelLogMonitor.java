package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.checks.node.NodeName;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.util.LoopThread;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The follower of the kernel log. It stores the log's messages as health events in batches, each with the position in the log.
 *
 * <p>One thread reads and classifies; another stores. The first goes on while the second waits for the disk, so a burst shares one
 * sync. Both sleep while the log is silent and no event is due.
 */
public final class KernelLogMonitor implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(KernelLogMonitor.class.getName());

    private static final Duration NODE_WAIT = Duration.ofMillis(100);
    private static final int NODE_WAITS = 20;
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(1);
    private static final Backoff RETRY = Backoff.exact(Duration.ofMillis(500), Duration.ofMinutes(1));

    /** Enough for users' regular expressions, which recurse. */
    private static final long STACK_BYTES = 512 * 1024;

    private final KernelLogSettings settings;
    private final Surroundings around;
    private final SourceSelector sources;
    private final Rules rules;
    private final Boot boot;
    private final GpuNames names;
    private final KernelMessageClassifier classifier;
    private final EventBatcher batcher;
    private final KernelLogStats.Counters counters;
    private final Clock clock;
    private final LoopThread reader = new LoopThread("gpuwarden-kernel-log", STACK_BYTES, this::follow);
    private LogSource.Start from = LogSource.Start.FIRST;
    private int attempts;
    private boolean verifies;
    private boolean doubted;
    private volatile @Nullable LogSource source;
    private @Nullable LoopThread writer;

    /**
     * The monitor's environment.
     *
     * @param faults the current faults, from memory
     * @param awaitNodes waits until the GPUs are listed, at most for the given time
     * @param driver the driver's events, read where no log can be read
     * @param tap receives every record on the reading thread; must not block
     */
    public record Surroundings(
            NodeName node,
            NodePaths paths,
            KernelLogParser parser,
            Supplier<NodeSnapshot> nodes,
            EventWriter intake,
            Supplier<List<Fault>> faults,
            Consumer<Duration> awaitNodes,
            DriverSource.Feed driver,
            Consumer<KernelRecord> tap) {}

    /** @throws dev.gpuwarden.cli.UserError where settings or rules are wrong */
    public KernelLogMonitor(KernelLogSettings settings, Surroundings around) {
        settings.validate();
        this.settings = settings;
        this.around = around;
        clock = Clock.systemUTC();
        LongSupplier nanoTime = System::nanoTime;
        boot = new Boot(around.paths.procfs(), clock);
        sources = new SourceSelector(
                settings,
                boot,
                Optional.of(new SourceSelector.DriverEvents(
                        around.driver, uuid -> GpuNames.place(around.nodes.get(), uuid))));
        rules = settings.rules();
        counters = new KernelLogStats.Counters(clock.instant());
        names = new GpuNames(() -> GpuNames.of(around.nodes.get()), nanoTime);
        classifier = new KernelMessageClassifier(around.node.get(), around.parser, rules, names, counters, clock);
        batcher = new EventBatcher(settings.stormWindow, nanoTime);
    }

    /** Also matches every record of the kernel with these rules. Must be called before the start. */
    public void alsoMatch(RecordRules others) {
        classifier.alsoMatch(others);
    }

    /** Keeps parts with a fatal fault faulty after their repair, until another part of the program verifies them. Must be called before the start. */
    public void verifyRepairs() {
        verifies = true;
    }

    /** Starts the two threads and returns. Does nothing where the settings switch the monitor off. */
    public void start() {
        if (off()) {
            return;
        }
        from = resume();
        reader.start();
        BatchTarget target = new BatchTarget(
                around.intake, around.faults, settings.quiet, verifies, clock, counters::error, new EndedFaults());
        writer = new LoopThread("gpuwarden-kernel-events", STACK_BYTES, () -> batcher.storeNext(target)).start();
    }

    private boolean off() {
        return settings.source() == KernelLogSettings.Source.NONE;
    }

    /** Resumes from the positions that an earlier process stored; returns where reading begins. */
    private LogSource.Start resume() {
        around.intake
                .position(EventBatcher.NAMES)
                .filter(this::ofThisBoot)
                .ifPresent(position -> names.recall(position.cursor()));
        Optional<Position> last = around.intake.position(EventBatcher.POSITION);
        if (last.isEmpty()) {
            return LogSource.Start.FIRST;
        }
        String cursor = last.get().cursor();
        if (ofThisBoot(last.get())) {
            classifier.resume(around.faults.get());
            batcher.resume(boot.id(), cursor);
            return LogSource.Start.behind(cursor);
        }
        // The reboot comes before all events of this boot. The position keeps the new boot's id even if no log can be
        // read.
        batcher.add(classifier.reboot(), boot.id(), () -> "boot:");
        return LogSource.Start.afterReboot(cursor);
    }

    private boolean ofThisBoot(Position position) {
        return position.bootId().equals(boot.id());
    }

    /** Chooses a source and reads it until it ends. Returns the pause before the next attempt. */
    private long follow() {
        if (attempts++ == 0) {
            awaitNodes();
        }
        try {
            SourceSelector.Choice choice = sources.choose(from, true);
            if (choice.source().isEmpty()) {
                unreadable(choice.why());
            } else if (!reader.isClosed()) {
                LogSource opened = choice.source().get();
                source = opened;
                counters.source(opened.name());
                if (opened.provesNothing()) {
                    doubt(opened.name());
                }
                opened.read(new Reader());
            }
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "reading the kernel log failed", e);
            unreadable(e.toString());
            from = LogSource.Start.behind(batcher.cursor());
        }
        return RETRY.pause(attempts).toNanos();
    }

    /** Waits for the GPUs' UUIDs while the driver is opened: a fault without a UUID asks for more than it must. */
    private void awaitNodes() {
        for (int i = 0; i < NODE_WAITS && !reader.isClosed(); i++) {
            around.awaitNodes.accept(NODE_WAIT);
        }
    }

    /** Warns once. Only the reading thread calls it. */
    private void doubt(String name) {
        if (!doubted) {
            LOG.log(
                    Level.WARNING,
                    name
                            + " does not show who wrote a line, and any user may write to it by the system's logger: faults"
                            + " of the kernel log are stored, and no program acts on them. Read /dev/kmsg or the journal,"
                            + " or set --kernel-log.trust-file if the logger keeps the kernel's tag for the kernel");
        }
        doubted = true;
    }

    private void unreadable(String why) {
        if (counters.unreadable(why)) {
            LOG.log(Level.WARNING, "the kernel log cannot be read: " + why);
        }
    }

    private final class Reader implements LogSource.Sink {
        @Override
        public void record(KernelRecord record, LogSource.Cursor behind) {
            around.tap.accept(record);
            if (!record.proven() && record.writer() == KernelRecord.Writer.UNTOLD) {
                LogSource read = source;
                doubt(read == null ? "the log" : read.name());
            }
            List<Occurrence> events = new ArrayList<>();
            if (boot.begins(record)) {
                events.addAll(classifier.reboot());
            }
            events.addAll(classify(record));
            batcher.add(events, boot.id(), behind);
            batcher.awaitRoom();
        }

        private List<Occurrence> classify(KernelRecord record) {
            try {
                List<Occurrence> events = classifier.classify(record);
                names.news().ifPresent(text -> batcher.saveNames(boot.id(), text));
                classifier.unread().news().ifPresent(this::notRead);
                return events;
            } catch (RuntimeException e) {
                // One record must not end the reading of all others.
                LOG.log(Level.ERROR, "a record of the kernel log could not be classified", e);
                counters.error("a record could not be classified: " + e);
                return List.of();
            }
        }

        private void notRead(String text) {
            LOG.log(
                    Level.WARNING,
                    "a record of the kernel log is about an Xid in a form that is not read; examine the GPU it names: "
                            + text);
        }

        @Override
        public void gap(long lost, String why) {
            counters.gap(lost, why, clock.instant());
            LOG.log(Level.WARNING, "a gap in the kernel log: " + why);
        }

        @Override
        public void unreadable(String why) {
            KernelLogMonitor.this.unreadable(why);
        }

        @Override
        public void readable() {
            counters.readable();
        }
    }

    /** Returns how far the log is read. Never waits. */
    public Reading<KernelLogStatus> status() {
        if (off()) {
            return Reading.absent(Absence.NOT_SUPPORTED, 0, settings.off());
        }
        return counters.status(batcher.collapsed());
    }

    /** Returns the last XID of each GPU that had one, by its address without a function; absent while no log can be read. */
    public Reading<Map<PciAddress, Integer>> lastXids() {
        Reading<KernelLogStatus> status = status();
        if (status instanceof Reading.Present<KernelLogStatus> known
                && known.value().unreadable().isPresent()) {
            return Reading.absent(Absence.FAILED, 0, known.value().unreadable().get());
        }
        return status.map(readable -> classifier.xids().last());
    }

    public KernelLogStats stats() {
        long cutOff = rules.patterns().stream()
                .mapToLong(rule -> rule.pattern().cutOff())
                .sum();
        return counters.stats(batcher.stored(), batcher.unstored(), cutOff, status());
    }

    /** Stores what was read, and stops within about two seconds. */
    @Override
    public void close() {
        reader.end();
        LogSource open = source;
        if (open != null) {
            open.close();
        }
        join(reader);
        batcher.stop();
        LoopThread storing = writer;
        if (storing != null) {
            join(storing);
        }
    }

    private static void join(LoopThread thread) {
        if (!thread.join(LONGEST_CLOSE)) {
            LOG.log(Level.WARNING, thread + " did not end in time");
        }
    }
}
