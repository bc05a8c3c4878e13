package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.check.CheckEnvironment;
import dev.gpuwarden.daemon.check.CheckPlan;
import dev.gpuwarden.daemon.check.CheckRunner;
import dev.gpuwarden.daemon.kernlog.DriverBranch;
import dev.gpuwarden.daemon.kernlog.KernelLogScan;
import dev.gpuwarden.daemon.kernlog.KernelLogSettings;
import dev.gpuwarden.daemon.node.NodeName;
import dev.gpuwarden.daemon.settings.CheckOptions;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;

/** A command that runs checks once on this node. */
abstract class CheckingCommand extends NodeCommand {

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

    Run runChecks(CheckPlan plan) {
        return runChecks(plan, Optional.empty());
    }

    /** @param deadline bound on the whole run; empty for the deadlines of GPUs and checks alone */
    Run runChecks(CheckPlan plan, Optional<Duration> deadline) {
        long start = System.nanoTime();
        // Errors in options are reported before anything is read.
        Limits limits = checks.limits();
        Expectations expectations = checks.expectations();
        RecordRules others = checks.logRules();
        kernelLog.validate();
        NodeSnapshot seen = deadline.isPresent()
                ? sample(deadline.get().minus(CheckDeadline.forChecks(deadline.get())), NodeSampler::snapshot)
                : sample(NodeSampler::snapshot);
        CheckEnvironment around = CheckEnvironment.once(seen, limits, expectations, paths);
        Supplier<List<CheckResult>> results = () -> results(plan, seen, around, others);
        return new Run(
                seen,
                deadline.isPresent()
                        ? CheckDeadline.within(
                                deadline.get(), deadline.get().minusNanos(System.nanoTime() - start), results)
                        : results.get());
    }

    private List<CheckResult> results(CheckPlan plan, NodeSnapshot seen, CheckEnvironment around, RecordRules others) {
        if (!plan.ids().contains(KernelLogFindings.CHECK)) {
            return CheckRunner.once(plan, around);
        }
        long start = System.nanoTime();
        KernelLogScan.Result log =
                KernelLogScan.sinceBoot(kernelLog, others, paths, DriverBranch.parser(seen.driver()), seen, node.get());
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        return CheckRunner.once(plan, around.withKernelLog(log::status)).stream()
                .map(result -> result.check().id().equals(KernelLogFindings.CHECK)
                        ? KernelLogFindings.with(result, log.faults(), PartNames.of(seen), took)
                        : result)
                .toList();
    }
}
