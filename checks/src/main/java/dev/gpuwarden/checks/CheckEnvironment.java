package dev.gpuwarden.checks;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.check.RunningCheck.Progress;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The sources that checks read, and the notes that they keep between their runs, also between those of different runners.
 *
 * @param nodes returns the node's readings; called once for each round of checks
 * @param sources what checks read by {@code CheckContext.source}
 * @param boot what was seen in this boot of the node, and its age
 * @param notes the notes of each check, by its ID
 * @param proofs receives each proven finding immediately, on the thread of its check
 */
public record CheckEnvironment(
        Supplier<NodeSnapshot> nodes,
        Function<GpuIdentity, GpuHistory> histories,
        Limits limits,
        Expectations expectations,
        Sources sources,
        NodePaths paths,
        Clock clock,
        NodeBoot boot,
        ConcurrentMap<String, Map<String, Long>> notes,
        Consumer<Finding> proofs) {

    /** Returns an environment on a node of unknown age, whose checks have no notes yet. */
    public CheckEnvironment(
            Supplier<NodeSnapshot> nodes,
            Function<GpuIdentity, GpuHistory> histories,
            Limits limits,
            Expectations expectations,
            Sources sources,
            NodePaths paths,
            Clock clock) {
        this(
                nodes,
                histories,
                limits,
                expectations,
                sources,
                paths,
                clock,
                NodeBoot.unknown(),
                new ConcurrentHashMap<>(),
                finding -> {});
    }

    /** Returns the environment for a single run on a node, without history. */
    public static CheckEnvironment once(NodeSnapshot node, Limits limits, Expectations expectations, NodePaths paths) {
        return new CheckEnvironment(
                () -> node,
                gpu -> GpuHistory.NONE,
                limits,
                expectations,
                Sources.NONE
                        .with(GpuAccess.class, () -> Reading.of(GpuAccess.OPEN))
                        .withLocal(KernelLogStatus.class, () -> Reading.absent(Absence.PENDING, 0, "the kernel log"))
                        .withLocal(
                                LeftOut.class,
                                () -> Reading.absent(Absence.NOT_SUPPORTED, 0, "a single run keeps no faults")),
                paths,
                Clock.systemUTC());
    }

    public CheckEnvironment with(Sources others) {
        return with(others, boot, proofs);
    }

    public CheckEnvironment withBoot(NodeBoot present) {
        return with(sources, present, proofs);
    }

    public CheckEnvironment withProofs(Consumer<Finding> receiver) {
        return with(sources, boot, receiver);
    }

    private CheckEnvironment with(Sources others, NodeBoot present, Consumer<Finding> receiver) {
        return new CheckEnvironment(
                nodes, histories, limits, expectations, others, paths, clock, present, notes, receiver);
    }

    /** Returns the notes of a check, which it may change, see {@code CheckContext.notes}. */
    public Map<String, Long> notes(String check) {
        return notes.computeIfAbsent(check, any -> new ConcurrentHashMap<>());
    }

    /** Returns the notes of a check that last until the node boots, see {@code CheckContext.bootNotes}. */
    public Map<String, Long> bootNotes(String check) {
        return boot.notes(check);
    }

    /**
     * Returns the context of one check at the present time.
     *
     * @param loads whether the check puts a load on GPUs
     * @param proven receives findings that stand before the run ends
     */
    Context context(
            NodeSnapshot node,
            CounterHistory counters,
            String check,
            boolean loads,
            Consumer<Progress> progress,
            Consumer<Finding> proven) {
        boot.observe(node);
        return new Context(
                this, node, counters, check, loads, clock.instant(), new HashSet<>(), progress, proven.andThen(proofs));
    }

    /**
     * @param check its ID
     * @param loads whether it may run in another process, which has no readings from before
     * @param pending labels of GPUs for which the check requested history that needs more time
     * @param reports receives the check's progress
     */
    record Context(
            CheckEnvironment environment,
            NodeSnapshot node,
            CounterHistory counters,
            String check,
            boolean loads,
            Instant now,
            Set<String> pending,
            Consumer<Progress> reports,
            Consumer<Finding> proofs)
            implements CheckContext {

        @Override
        public GpuHistory history(GpuIdentity gpu) {
            refuseLoads("the history of readings");
            return new PendingAwareHistory(environment.histories.apply(gpu), () -> pending.add(gpu.label()));
        }

        @Override
        public Limits limits() {
            return environment.limits;
        }

        @Override
        public Reading<Long> increase(String counter, long value, Duration window) {
            refuseLoads("increases of counters");
            return counters.increase(counter, value, window, now);
        }

        @Override
        public Expectations expectations() {
            return environment.expectations;
        }

        @Override
        public Map<String, Long> notes() {
            return environment.notes(check);
        }

        @Override
        public Map<String, Long> bootNotes() {
            return environment.boot.notes(check);
        }

        @Override
        public Optional<String> young() {
            return environment.boot.young();
        }

        @Override
        public <T> Reading<T> source(Class<T> type) {
            if (environment.sources.isLocal(type)) {
                refuseLoads("the source " + type.getSimpleName());
            }
            return environment.sources.get(type);
        }

        @Override
        public void progress(String doing, int done, int total) {
            reports.accept(new Progress(doing, done, total));
        }

        @Override
        public void proven(Finding finding) {
            proofs.accept(finding);
        }

        private void refuseLoads(String what) {
            if (loads) {
                throw new IllegalStateException("the check " + check + " may run in a child process, which has not "
                        + what + "; keep what a later run needs in notes");
            }
        }

        @Override
        public Path sysfs() {
            return environment.paths.sysfs();
        }

        @Override
        public Path procfs() {
            return environment.paths.procfs();
        }

        @Override
        public Path podLogs() {
            return environment.paths.podLogs();
        }
    }

    /**
     * A history that reports when it has no value yet.
     *
     * @param whenPending called for each request whose value needs more time
     */
    private record PendingAwareHistory(GpuHistory history, Runnable whenPending) implements GpuHistory {

        @Override
        public Reading<Long> increase(GpuMetric counter, Duration window) {
            return noted(history.increase(counter, window));
        }

        @Override
        public Reading<Long> increase(int link, LinkMetric counter, Duration window) {
            return noted(history.increase(link, counter, window));
        }

        @Override
        public Reading<Double> share(GpuMetric flags, long bits, Duration window) {
            return noted(history.share(flags, bits, window));
        }

        private <T> Reading<T> noted(Reading<T> answer) {
            if (answer instanceof Reading.Absent<T> absent && absent.cause() == Absence.PENDING) {
                whenPending.run();
            }
            return answer;
        }
    }
}
