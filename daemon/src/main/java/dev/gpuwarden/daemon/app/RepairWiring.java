package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.verify.VerifyOptions;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.daemon.repair.RepairOptions;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;

/** The wiring of the repair of this server to store, sampler and checks. */
final class RepairWiring {

    private RepairWiring() {}

    static RepairOptions.Surroundings of(
            EventStore store,
            StoreSettings settings,
            NodeSampler sampler,
            CheckRunner runner,
            NodePaths paths,
            VerifyOptions verify,
            CommandSpec command) {
        return new RepairOptions.Surroundings(
                store,
                runner::damping,
                runner::results,
                sampler::snapshot,
                store::gpus,
                paths,
                settings.repairsFile(),
                () -> ChildSettings.ofReset(command),
                () -> ChildSettings.ofBundle(command),
                () -> runner.run(List.of()),
                verify.checks().most() != GpuLoad.NONE,
                () -> incomplete(store, sampler, runner));
    }

    /** Returns why the faults are not all found yet. */
    private static Optional<String> incomplete(EventStore store, NodeSampler sampler, CheckRunner runner) {
        List<String> pending = DaemonCommand.pending(sampler.snapshot());
        if (!pending.isEmpty()) {
            return Optional.of(String.join(", ", pending));
        }
        if (runner.results().size() < runner.checks().size()) {
            return Optional.of("the checks have not all run yet");
        }
        return store.leftOut().isEmpty()
                ? Optional.empty()
                : Optional.of("some reports of faults found no room, so the faults are not all present");
    }
}
