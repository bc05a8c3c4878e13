package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.app.ControllerOptions.Mode;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.vram.VramSettings;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.cli.UserError;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The options of VRAM budgets. */
final class VramOptions {

    enum Switch {
        off,
        on
    }

    @Option(
            names = "--vram.evictions",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description =
                    "Send nodes the VRAM budgets of their pods, and evict pods that they name:"
                            + " ${COMPLETION-CANDIDATES}. A dry run sends budgets and evicts no pod (default: ${DEFAULT-VALUE}).")
    Mode evictions = Mode.dry_run;

    @Option(
            names = "--vram.resource",
            defaultValue = VramCodec.RESOURCE,
            paramLabel = "NAME",
            description = "Extended resource in which pods state their VRAM budget in MiB (default: ${DEFAULT-VALUE}).")
    String resource = VramCodec.RESOURCE;

    @Option(
            names = "--vram.capacity",
            defaultValue = "off",
            paramLabel = "SWITCH",
            description = "Write the amount of that resource that each node reports into its Node:"
                    + " ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Switch capacity = Switch.off;

    @Option(
            names = "--vram.delete",
            defaultValue = "off",
            paramLabel = "SWITCH",
            description = "Delete a pod that its node names if a PodDisruptionBudget refuses its eviction:"
                    + " ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Switch delete = Switch.off;

    @Option(
            names = "--vram.waiting",
            defaultValue = "on",
            paramLabel = "SWITCH",
            description =
                    "With --vram.capacity=on, write an Event of each pod that waits for that resource. It names the"
                            + " pods that hold it, also those of other namespaces: ${COMPLETION-CANDIDATES} (default:"
                            + " ${DEFAULT-VALUE}).")
    Switch waiting = Switch.on;

    /** Returns the settings; empty if budgets are off. Throws {@link UserError} for invalid options. */
    Optional<VramSettings> settings() {
        if (!VramCodec.isResource(resource)) {
            throw new UserError("--vram.resource: expected the name of an extended resource such as "
                    + VramCodec.RESOURCE + ", found '" + resource + "'");
        }
        return evictions == Mode.off
                ? Optional.empty()
                : Optional.of(new VramSettings(
                        resource,
                        capacity == Switch.on,
                        evictions == Mode.armed ? ActionMode.ARMED : ActionMode.DRY_RUN,
                        delete == Switch.on,
                        waiting == Switch.on));
    }
}
