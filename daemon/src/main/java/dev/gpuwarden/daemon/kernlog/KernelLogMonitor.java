package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.EventIntake;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.LogParser;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.daemon.node.NodeName;
import dev.gpuwarden.daemon.node.NodePaths;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Follows the kernel log and hands to the event store what it says, each time with how far it was read. One thread reads and
 * interprets; another hands over, and while it waits for the disk the first goes on, so that a burst shares one sync. Both sleep
 * while nothing is written and nothing is due.
 */
public final class KernelLogMonitor implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(KernelLogMonitor.class.getName());

    private static final Duration NODE_WAIT = Duration.ofMillis(100);
    private static final int NODE_WAITS = 20;
    private static final long CLOSE_MILLIS = 1000;

    /** Regular expressions of users recurse. */
    private static final long STACK_BYTES = 512 * 1024;

    private final KernelLogSettings settings;
    private final Surroundings around;
    private final SourceSelector sources;
    private final Rules rules;
    private final KernelMessageClassifier interpreter;
    private final Ledger ledger;
    private final Handover handover;
    private final LogCounts counts = new LogCounts();
    private final LogProgress progress;
    private final Clock clock;
    private final Backoff patience = new Backoff(Duration.ofMinutes(1));
    private volatile @Nullable LogSource source;
    private @Nullable Thread reader;
    private @Nullable Thread teller;

    /** What the log is read with and for. */
    public record Surroundings(
            NodeName node,
            NodePaths paths,
            LogParser parser,
            Supplier<NodeSnapshot> nodes,
            EventIntake intake,
            Supplier<List<Fault>> faults,
            Consumer<Duration> awaitNodes,
            DriverFeed driver,
            Consumer<KernelRecord> tap) {}

    /**
     * @param around {@code faults} are those that are current, from memory; {@code awaitNodes} waits until the GPUs are listed, at
     *     most so long; {@code driver} is listened to where no log can be read; {@code tap} is told every record, by the thread that reads, and must not block
     * @throws dev.gpuwarden.cli.UserError where settings or rules are wrong
     */
    public KernelLogMonitor(KernelLogSettings settings, Surroundings around) {
        settings.validate();
        this.settings = settings;
        this.around = around;
        clock = Clock.systemUTC();
        LongSupplier nanoTime = System::nanoTime;
        Boot boot = new Boot(around.paths.procfs());
        sources = new SourceSelector(
                settings,
                new BootClock(around.paths.procfs(), clock),
                boot.id(),
                Optional.of(new SourceSelector.Heard(around.driver, uuid -> GpuNames.place(around.nodes.get(), uuid))));
        rules = settings.rules();
        progress = new LogProgress(counts, clock.instant());
        GpuNames names = new GpuNames(() -> GpuNames.of(around.nodes.get()), nanoTime);
        EventBatcher tallies = new EventBatcher(around.node.get(), boot::id, settings.stormWindow);
        interpreter = new KernelMessageClassifier(
                around.node.get(), around.parser, rules, names, tallies, counts, clock, nanoTime);
        ledger = new Ledger(boot, names, tallies, interpreter, nanoTime);
        handover = new Handover(ledger, around.intake, around.faults, settings.quiet, progress, clock);
    }

    /** Has records matched with these rules too; before the start. */
    public void alsoMatch(RecordRules others) {
        interpreter.alsoMatch(others);
    }

    /** Starts; returns at once. Does nothing where the user switched it off. */
    public void start() {
        if (off()) {
            return;
        }
        LogSource.Start start = ledger.begin(
                around.intake.position(Ledger.POSITION), around.intake.position(Ledger.NAMES), around.faults);
        reader = launch("gpuwarden-kernel-log", () -> follow(start));
        teller = launch("gpuwarden-kernel-events", handover);
    }

    private boolean off() {
        return settings.source() == KernelLogSettings.Source.NONE;
    }

    private static Thread launch(String name, Runnable body) {
        Thread thread = new Thread(null, body, name, STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void follow(LogSource.Start first) {
        awaitNodes();
        LogSource.Start start = first;
        while (!patience.isClosed()) {
            try {
                SourceSelector.Choice choice = sources.choose(start, true);
                if (choice.source().isEmpty()) {
                    unreadable(choice.why());
                } else if (!patience.isClosed()) {
                    LogSource opened = choice.source().get();
                    source = opened;
                    progress.source(opened.name());
                    opened.read(new Reader());
                }
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "reading the kernel log failed", e);
                unreadable(e.toString());
                start = LogSource.Start.behind(ledger.cursor());
            }
            patience.await();
        }
    }

    /** A fault of a GPU whose UUID is not known asks for more than it must; the driver is opened while this starts. */
    private void awaitNodes() {
        for (int i = 0; i < NODE_WAITS && !patience.isClosed(); i++) {
            around.awaitNodes.accept(NODE_WAIT);
        }
    }

    private void unreadable(String why) {
        if (progress.unreadable(why)) {
            LOG.log(Level.WARNING, "the kernel log cannot be read: " + why);
        }
    }

    private final class Reader implements LogSource.Sink {
        @Override
        public void record(KernelRecord record, LogSource.Cursor behind) {
            around.tap.accept(record);
            try {
                ledger.read(record, behind);
            } catch (RuntimeException e) {
                // One record must not end the reading of all others.
                LOG.log(Level.ERROR, "a record of the kernel log could not be interpreted", e);
                progress.error("a record could not be interpreted: " + e);
            }
        }

        @Override
        public void gap(long lost, String why) {
            progress.gap(lost, why, clock.instant());
            LOG.log(Level.WARNING, "a gap in the kernel log: " + why);
        }

        @Override
        public void unreadable(String why) {
            KernelLogMonitor.this.unreadable(why);
        }

        @Override
        public void readable() {
            progress.readable();
        }
    }

    /** How reading goes. Never waits. */
    public Reading<KernelLogStatus> status() {
        if (off()) {
            return Reading.absent(Absence.NOT_SUPPORTED, 0, settings.off());
        }
        return progress.status(ledger.collapsed());
    }

    /** The last Xid of each GPU that had one, by its address without a function; absent while no log can be read. */
    public Reading<Map<PciAddress, Integer>> lastXids() {
        Reading<KernelLogStatus> status = status();
        if (status instanceof Reading.Present<KernelLogStatus> known
                && known.value().unreadable().isPresent()) {
            return Reading.absent(Absence.FAILED, 0, known.value().unreadable().get());
        }
        return status.map(readable -> interpreter.xids().all());
    }

    public KernelLogStats stats() {
        Reading<KernelLogStatus> status = status();
        long cutOff = rules.patterns().stream()
                .mapToLong(rule -> rule.pattern().cutOff())
                .sum();
        return new KernelLogStats(
                counts.byWriter(),
                counts.bySignal(),
                counts.silentSignals(),
                counts.suppressedSignals(),
                handover.events(),
                handover.unstored(),
                cutOff,
                status);
    }

    /** Ends within about two seconds; what was read is handed over before. */
    @Override
    public void close() {
        patience.close();
        LogSource open = source;
        if (open != null) {
            open.close();
        }
        join(reader);
        ledger.stop();
        join(teller);
    }

    private static void join(@Nullable Thread thread) {
        if (thread == null) {
            return;
        }
        try {
            thread.join(CLOSE_MILLIS);
            if (thread.isAlive()) {
                LOG.log(Level.WARNING, thread.getName() + " did not end in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
