package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.NodeBoot;
import dev.gpuwarden.checks.Sources;
import dev.gpuwarden.checks.access.SingleRunAccess;
import dev.gpuwarden.checks.compute.LazyLibrary;
import dev.gpuwarden.checks.node.NodeName;
import dev.gpuwarden.checks.settings.CheckOptions;
import dev.gpuwarden.checks.settings.LibrarySettings;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.holders.GpuHolderLookup;
import dev.gpuwarden.daemon.holders.PresentPods;
import dev.gpuwarden.daemon.kernlog.DriverBranch;
import dev.gpuwarden.daemon.kernlog.KernelLogScan;
import dev.gpuwarden.daemon.kernlog.KernelLogSettings;
import dev.gpuwarden.daemon.view.ProcessNames;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;

/** A command that runs checks once on this node. */
abstract class CheckingCommand extends NodeCommand {

    private static final CheckInfo SCAN = CheckInfo.of("scan", "NODE", "The scan of the node ends in time.");

    private static final Duration MOST_FOR_KERNEL_LOGS = Duration.ofSeconds(3);

    private static final String KERNEL_LOG = "kernel-log";

    @Mixin
    CheckOptions checks = new CheckOptions();

    @Mixin
    KernelLogSettings kernelLog = new KernelLogSettings();

    @Mixin
    NodeName node = new NodeName();

    CheckingCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    /** The node's readings and the results of the checks. */
    record Run(NodeSnapshot node, List<CheckResult> results) {}

    /** Returns the usual sources, with those of checks with a load on GPUs if the command runs such checks. */
    Sources work(Sources usual) {
        return usual;
    }

    /** Returns the permission to give work to GPUs, the usual one or a narrower one. */
    GpuAccess access(GpuAccess usual) {
        return usual;
    }

    /** Returns the environment of the checks: the usual one, or one that continues earlier runs. */
    CheckEnvironment adapted(CheckEnvironment usual) {
        return usual;
    }

    /** Returns the usual sources with those of work in this process. */
    Sources workOf(Sources usual, LibrarySettings libraries) {
        DriverOptions options = sampling.driverOptions();
        return libraries
                .addTo(usual, sampling)
                .with(
                        Driver.class,
                        new LazyLibrary<>(
                                "the management library",
                                () -> provider().get().open(options),
                                sampling.openDeadline()));
    }

    Run runChecks(CheckPlan plan) {
        return runChecks(plan, Optional.empty());
    }

    /** @param deadline bound on the whole run; empty for the deadlines of GPUs and checks alone */
    Run runChecks(CheckPlan plan, Optional<Duration> deadline) {
        long start = System.nanoTime();
        // Errors in options are reported before anything is read.
        Limits limits = checks.limits();
        Expectations expectations = checks.expectations();
        Duration young = checks.young();
        RecordRules others = checks.logRules();
        kernelLog.validate();
        NodeSnapshot seen = deadline.isPresent()
                ? sample(deadline.get().minus(forChecks(deadline.get())), NodeSampler::snapshot)
                : sample(NodeSampler::snapshot);
        GpuAccess access = access(new SingleRunAccess(
                PresentPods.of(paths, () -> seen, GpuHolderLookup.COMMAND_PATIENCE), ProcessNames.of(paths)));
        CheckEnvironment once = CheckEnvironment.once(seen, limits, expectations, paths);
        CheckEnvironment around =
                adapted(once.with(work(once.sources()).with(GpuAccess.class, () -> Reading.of(access)))
                        .withBoot(NodeBoot.once(young, paths)));
        Supplier<List<CheckResult>> results = () -> results(plan, seen, around, others);
        return new Run(
                seen,
                deadline.isPresent()
                        ? within(deadline.get(), deadline.get().minusNanos(System.nanoTime() - start), results)
                        : results.get());
    }

    private List<CheckResult> results(CheckPlan plan, NodeSnapshot seen, CheckEnvironment around, RecordRules others) {
        if (!plan.ids().contains(KERNEL_LOG)) {
            return once(plan, around);
        }
        long start = System.nanoTime();
        KernelLogScan.Result log =
                KernelLogScan.sinceBoot(kernelLog, others, paths, DriverBranch.parser(seen.driver()), seen, node.get());
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        Sources sources = around.sources().withLocal(KernelLogStatus.class, log::status);
        return once(plan, around.with(sources)).stream()
                .map(result -> result.check().id().equals(KERNEL_LOG)
                        ? withFaults(result, log.faults(), PartNames.of(seen), took)
                        : result)
                .toList();
    }

    /** Returns the faults that the kernel log of this boot has now; none if it cannot be read. */
    List<Fault> faultsSinceBoot(NodeSnapshot seen) {
        return KernelLogScan.sinceBoot(
                        kernelLog, checks.logRules(), paths, DriverBranch.parser(seen.driver()), seen, node.get())
                .faults();
    }

    private List<CheckResult> once(CheckPlan plan, CheckEnvironment around) {
        return progress()
                .during(line -> CheckRunner.once(
                        plan, around, follower(line).apply(plan.planned().size())));
    }

    /** Returns what shows the progress of a number of checks. */
    static IntFunction<RunListener> follower(Consumer<String> line) {
        return total -> new CheckFollower(total, Clock.systemUTC(), line);
    }

    /** Returns the part of the whole time that is kept for checks after the wait for GPUs. */
    static Duration forChecks(Duration whole) {
        Duration half = whole.dividedBy(2);
        return half.compareTo(MOST_FOR_KERNEL_LOGS) < 0 ? half : MOST_FOR_KERNEL_LOGS;
    }

    /**
     * Runs checks on a thread of their own, and interrupts it at the end, which ends the scripts that it runs.
     *
     * @param whole deadline that the user set
     * @param left remaining time
     */
    static List<CheckResult> within(Duration whole, Duration left, Supplier<List<CheckResult>> checks) {
        FutureTask<List<CheckResult>> task = new FutureTask<>(checks::get);
        Thread thread = Threads.daemon("gpuwarden-checks-deadline", task);
        Instant began = Instant.now();
        thread.start();
        try {
            return task.get(Math.max(left.toMillis(), 1), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            thread.interrupt();
            return List.of(CheckResult.of(
                    SCAN,
                    began,
                    left,
                    List.of(Finding.unknown(
                            "deadline",
                            Subject.NODE,
                            "the checks did not end within " + Durations.text(whole),
                            "give more time with --deadline; 'gpuwarden check NAME' runs one check"))));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        }
    }

    /** Returns the check's own result, on whether the log is readable, with the faults in the log. */
    private static CheckResult withFaults(CheckResult read, List<Fault> faults, PartNames names, Duration took) {
        List<Finding> findings = new ArrayList<>(read.findings());
        // One finding for each event that raised faults: a GPU has a fault under each of its names.
        Map<HealthEvent, Finding> byCause = new LinkedHashMap<>();
        faults.forEach(fault -> byCause.computeIfAbsent(fault.cause(), cause -> finding(fault, names)));
        findings.addAll(byCause.values());
        return CheckResult.of(read.check(), read.at(), read.took().plus(took), findings);
    }

    private static Finding finding(Fault fault, PartNames names) {
        HealthEvent cause = fault.cause();
        Outcome outcome = fault.unproven() ? Outcome.UNKNOWN : cause.fatal() ? Outcome.FAIL : Outcome.WARN;
        Subject subject =
                cause.entities().isEmpty() ? Subject.NODE : new Subject(names.of(cause.entities()), cause.entities());
        String label = subject.label();
        String where = cause.message().contains(label) || subject.equals(Subject.NODE) ? "" : label + ": ";
        return new Finding(
                outcome,
                code(cause.checkName(), fault.key().errorCode()),
                subject,
                where + cause.message() + times(fault),
                names.advice(cause),
                cause.action(),
                List.of(new Measurement("occurrences_count", fault.occurrences(), "")));
    }

    private static String times(Fault fault) {
        Instant last = fault.lastSeen().truncatedTo(ChronoUnit.SECONDS);
        return fault.occurrences() == 1
                ? " (at " + last + ")"
                : " (" + fault.occurrences() + " times, last at " + last + ")";
    }

    /** Returns "xid-79"; a code that is a word is returned unchanged. */
    private static String code(String check, String code) {
        String number = code.isEmpty() || !Character.isDigit(code.charAt(0))
                ? code
                : (check.contains("SXID") ? "sxid-" : "xid-") + code;
        String word = number.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9.]+", "-");
        return word.isEmpty() ? KERNEL_LOG : word;
    }
}
