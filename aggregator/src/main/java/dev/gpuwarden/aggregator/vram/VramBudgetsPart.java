package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.ingest.NodeMessageKind;
import dev.gpuwarden.aggregator.part.ArmedRights;
import dev.gpuwarden.aggregator.part.MetricFamilies;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.cli.Mode;
import dev.gpuwarden.cli.Switch;
import dev.gpuwarden.cli.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** Sends nodes the VRAM budgets of their pods, and acts for them in the cluster. */
public final class VramBudgetsPart implements Part {

    private static final System.Logger LOG = System.getLogger(VramBudgetsPart.class.getName());

    @Option(
            names = "--vram.evictions",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description = "Send nodes the VRAM budgets of their pods, and evict pods that they name:"
                    + " ${COMPLETION-CANDIDATES}. A dry run sends budgets and evicts no pod (default:"
                    + " ${DEFAULT-VALUE}).")
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

    private final Supplier<String> namespace;
    private Optional<VramSettings> settings = Optional.empty();
    private Optional<VramBudgets> budgets = Optional.empty();

    /** @param namespace namespace of this program */
    public VramBudgetsPart(Supplier<String> namespace) {
        this.namespace = namespace;
    }

    @Override
    public void configure() {
        if (!VramCodec.isResource(resource)) {
            throw new UserError("--vram.resource: expected the name of an extended resource such as "
                    + VramCodec.RESOURCE + ", found '" + resource + "'");
        }
        settings = ActionMode.of(evictions)
                .map(mode -> new VramSettings(
                        resource, capacity.isOn(), mode, delete.isOn(), waiting.isOn(), selectors(), namespace.get()));
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

    @Override
    public List<? extends Need> needs() {
        return settings.map(VramBudgetsPart::needs).orElse(List.of());
    }

    /** Returns the rights of these settings. A dry run needs none; without those to read budgets, nodes get none. */
    public static List<? extends Need> needs(VramSettings set) {
        List<Need> needs = new ArrayList<>();
        if (set.advertises()) {
            needs.add(ArmedRights.need("--vram.capacity=on", "vram-advertise", "", "--vram.capacity=off"));
        }
        if (set.mode() == ActionMode.DRY_RUN) {
            needs.add(api -> {
                budgets("--vram.evictions=dry-run")
                        .missing(api)
                        .forEach(line -> LOG.log(System.Logger.Level.WARNING, line));
                return List.of();
            });
            return needs;
        }
        String armed = "--vram.evictions=armed";
        needs.add(ArmedRights.need(armed, "vram-armed", "", "--vram.evictions=dry-run"));
        needs.add(budgets(armed));
        if (set.deletes()) {
            needs.add(ArmedRights.need("--vram.delete=on", "vram-delete", "", "--vram.delete=off"));
        }
        return needs;
    }

    /** Returns the rights to read budgets, which an aggregator without them serves to no node. */
    private static Need budgets(String setting) {
        return ArmedRights.need(setting, "vram-budgets", "", "--vram.evictions=off");
    }

    @Override
    public void start(Replica replica) {
        budgets = settings.map(set -> replica.closer()
                .add(VramBudgets.start(
                        replica.api(), replica.cache(), set, replica.api().clock())));
    }

    /** Watches the Nodes, if no other part does. */
    @Override
    public void run(Replica replica) {
        if (budgets.isPresent() && !replica.manager().isFollowed(NodeCache.NODES)) {
            var unused =
                    replica.manager().watch(NodeCache.NODES, replica.cache().nodes());
        }
    }

    /** Returns the receiver of the messages of nodes; empty if this part is off. */
    public List<NodeMessageKind> messages() {
        return budgets.<NodeMessageKind>map(VramBudgets::nodes).stream().toList();
    }

    @Override
    public String mode() {
        return "VRAM budgets: "
                + budgets.map(each -> "evictions " + evictions + ", in "
                                + each.nodes().resource())
                        .orElse("off");
    }

    /** Adds the VRAM budgets of the nodes that report to this replica. */
    @Override
    public void addMetrics(MetricFamilies all) {
        budgets.ifPresent(each -> addMetrics(all, each));
    }

    private static void addMetrics(MetricFamilies all, VramBudgets budgets) {
        VramNodes nodes = budgets.nodes();
        VramMetrics metrics = budgets.metrics();
        all.gauge("gpuwarden_aggregator_vram_nodes", nodes.joined());
        all.gauge("gpuwarden_aggregator_vram_watched_nodes", nodes.watched());
        all.gauge("gpuwarden_aggregator_vram_nodes_failing", nodes.failing());
        all.counter("gpuwarden_aggregator_vram_lists", metrics.lists.sum());
        all.counter("gpuwarden_aggregator_vram_advertised", "outcome", metrics.advertised.sums());
        all.counter("gpuwarden_aggregator_vram_removals", "outcome", metrics.removals.sums());
        budgets.waiting().ifPresent(pods -> all.gauge("gpuwarden_aggregator_vram_waiting_pods", pods));
        all.counter("gpuwarden_aggregator_vram_waiting_events", "outcome", metrics.waiting.sums());
    }
}
