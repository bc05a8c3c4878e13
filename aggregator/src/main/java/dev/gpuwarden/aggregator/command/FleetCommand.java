package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.FleetState;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import java.time.Clock;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that shows the nodes of a cluster by their state. */
@Command(
        name = "fleet",
        mixinStandardHelpOptions = true,
        description = {
            "Show which nodes of a cluster are fit and which are not, with the reason and the next action.",
            "Uses the Kubernetes API with your own rights: nodes, nodehealths and, as far as you may read them,"
                    + " quarantinerulesets, the breaker's ConfigMap and the aggregator's Lease."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all are fit",
            "1:some are not",
            "2:wrong usage or configuration",
            "3:undecided: some have no current report, or the cluster does not answer"
        })
public final class FleetCommand extends ClusterCommand.ReadCommand {

    @Option(
            names = {"-l", "--selector"},
            paramLabel = "LABELS",
            description = "Only nodes with these labels: key=value, key!=value, key, !key, with commas between.")
    String selector = "";

    @Option(
            names = "--state",
            split = ",",
            paramLabel = "STATE",
            description = "Show only nodes in these states: faulty, silent, quarantined, cordoned, degraded, healthy,"
                    + " other.")
    List<String> states = List.of();

    @Option(names = "--all", description = "Show healthy nodes too, and those without GPUs.")
    boolean all;

    public FleetCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    @Override
    int ask(KubeClient api) throws ApiException, InterruptedException {
        NodeSelector selected;
        try {
            selected = NodeSelector.parse(selector);
        } catch (IllegalArgumentException e) {
            throw new UserError("--selector: " + e.getMessage());
        }
        Set<FleetState> shown = shown();
        FleetReport report = FleetReport.of(reader(api).snapshot(clock.instant()), selected, shown);
        show(report.tree(), out -> FleetTable.print(report, out));
        return ExitCode.of(report.verdict());
    }

    private Set<FleetState> shown() {
        Set<FleetState> shown = EnumSet.noneOf(FleetState.class);
        for (String state : states) {
            try {
                shown.add(FleetState.valueOf(state.strip().toUpperCase(Locale.ROOT)));
            } catch (IllegalArgumentException e) {
                throw new UserError("--state: expected faulty, silent, quarantined, cordoned, degraded, healthy or"
                        + " other, found \"" + state + "\"");
            }
        }
        if (!shown.isEmpty()) {
            return shown;
        }
        return all
                ? EnumSet.allOf(FleetState.class)
                : EnumSet.complementOf(EnumSet.of(FleetState.HEALTHY, FleetState.OTHER));
    }
}
