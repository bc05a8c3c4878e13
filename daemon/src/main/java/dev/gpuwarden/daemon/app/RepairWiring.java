package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.daemon.repair.RepairOptions;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;

/** The wiring of the repair of this server to store, sampler and checks. */
final class RepairWiring {

    private RepairWiring() {}

    /**
     * Starts the repair, if a setting requests it.
     *
     * @param managed true if an aggregator, or Kubernetes, has the node
     */
    static void open(DaemonParts parts, boolean managed, CommandSpec command) {
        DaemonCommand settings = parts.settings;
        CheckRunner runner = parts.checks;
        parts.repairs = settings.repair.start(
                managed,
                new RepairOptions.Surroundings(
                        parts.store,
                        runner::damping,
                        runner::results,
                        parts.sampler::snapshot,
                        parts.store::gpus,
                        settings.paths,
                        settings.events.repairsFile(),
                        () -> ChildSettings.ofReset(command),
                        () -> ChildSettings.ofBundle(command),
                        () -> runner.run(List.of()),
                        settings.verify.checks().most() != GpuLoad.NONE,
                        () -> incomplete(parts)),
                parts.closer);
    }

    /** Returns why the faults are not all found yet. */
    private static Optional<String> incomplete(DaemonParts parts) {
        List<String> pending = parts.pending();
        if (!pending.isEmpty()) {
            return Optional.of(String.join(", ", pending));
        }
        if (parts.checks.results().size() < parts.checks.checks().size()) {
            return Optional.of("the checks have not all run yet");
        }
        return parts.store.leftOut().isEmpty()
                ? Optional.empty()
                : Optional.of("some reports of faults found no room, so the faults are not all present");
    }
}
