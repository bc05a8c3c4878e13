package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.app.ControllerOptions.Mode;
import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.vram.VramSettings;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.cli.UserError;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
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
            description = "Write the amount of --vram.resource that each node reports into its Node:"
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
                    "With --vram.capacity=on, write an Event of each pod that waits for --vram.resource. It names the"
                            + " pods that hold it, also those of other namespaces: ${COMPLETION-CANDIDATES} (default:"
                            + " ${DEFAULT-VALUE}).")
    Switch waiting = Switch.on;

    @Option(
            names = "--vram.nodes",
            defaultValue = "",
            paramLabel = "SELECTORS",
            description =
                    "Label selectors of the Nodes that may have --vram.resource, separated by ';'. It is removed from"
                            + " a Node that matches none any more (default: all Nodes).")
    String nodes = "";

    /**
     * Returns the settings; empty if budgets are off. Throws {@link UserError} for invalid options.
     *
     * @param namespace namespace of this program
     */
    Optional<VramSettings> settings(Supplier<String> namespace) {
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
                        waiting == Switch.on,
                        selectors(),
                        namespace.get()));
    }

    private List<NodeSelector> selectors() {
        try {
            return Stream.of(nodes.split(";"))
                    .map(String::strip)
                    .filter(text -> !text.isEmpty())
                    .map(NodeSelector::parse)
                    .toList();
        } catch (IllegalArgumentException e) {
            throw new UserError("--vram.nodes: " + e.getMessage());
        }
    }
}
