package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.command.BreakerReport.BreakerAudit;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import dev.gpuwarden.aggregator.fleet.FleetReader.FleetSnapshot;
import dev.gpuwarden.aggregator.fleet.Seen;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import java.time.Clock;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that shows the circuit breaker, and lets the operator close it or half-open it. */
@Command(
        name = "breaker",
        mixinStandardHelpOptions = true,
        description = {
            "Show the breaker, or permit quarantines again after an inspection of the nodes.",
            "  status              the pools and the nodes that wait (the default)",
            "  close POOL          the limits hold again from now on; earlier quarantines are not counted",
            "  half-open POOL --nodes N  N nodes pass regardless of the limits; then the limits hold again",
            "Changes the ConfigMap gpuwarden-breaker with your own rights; the aggregator reads it immediately."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:no pool is open, or done",
            "1:a pool is open, or not done",
            "2:wrong usage or configuration, or no such pool",
            "3:undecided: no aggregator with quarantine has led, or the cluster does not answer"
        })
public final class BreakerCommand extends ClusterCommand.ReadCommand {

    @Parameters(index = "0", arity = "0..1", paramLabel = "ACTION", description = "status, close or half-open.")
    String action = "status";

    @Parameters(index = "1", arity = "0..1", paramLabel = "POOL", description = "The pool, as status names it.")
    String pool = "";

    @Option(names = "--nodes", paramLabel = "N", description = "The number of nodes that half-open lets pass.")
    @Nullable Integer nodes;

    @Option(names = "--dry-run", description = "Report the change without making it.")
    boolean dryRun;

    public BreakerCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    @Override
    int ask(KubeClient api) throws ApiException, InterruptedException {
        boolean halfOpen = action.equals("half-open");
        if (action.equals("status")) {
            need(
                    pool.isEmpty() && nodes == null && !dryRun,
                    "breaker status takes neither POOL, --nodes nor --dry-run");
            return status(api);
        }
        need(halfOpen || action.equals("close"), "expected status, close or half-open, found \"" + action + "\"");
        need(!pool.isEmpty(), "expected the name of a pool: gpuwarden breaker " + action + " POOL");
        need(halfOpen == (nodes != null), "half-open needs --nodes N, and close does not accept it");
        need(nodes == null || nodes > 0, "--nodes: expected a number above 0, found " + nodes);
        return change(api);
    }

    private static void need(boolean fulfilled, String otherwise) {
        if (!fulfilled) {
            throw new UserError(otherwise);
        }
    }

    private int status(KubeClient api) throws ApiException, InterruptedException {
        BreakerReport report = new BreakerReport(reader(api).snapshot(clock.instant()));
        show(report.tree(), report::print);
        return report.snapshot()
                .around()
                .breaker()
                .kept()
                .value()
                .map(kept -> kept.pools().values().stream().anyMatch(each -> each.status() == PoolState.Status.OPEN)
                        ? ExitCode.NOT_FIT
                        : ExitCode.OK)
                .orElse(ExitCode.UNDECIDED);
    }

    private int change(KubeClient api) throws ApiException, InterruptedException {
        BreakerChange change = new BreakerChange(api, breaker.namespace(), clock);
        BreakerChange.Plan plan = change.plan(pool, nodes == null ? 0 : nodes);
        Seen<FleetSnapshot> snapshot = FleetReader.ask(() -> reader(api).snapshot(clock.instant()));
        BreakerAudit audit = new BreakerAudit(
                plan,
                FleetReader.user(api),
                dryRun,
                snapshot.value().map(BreakerReport::new).map(report -> report.waiting(pool)),
                snapshot.why());
        if (!dryRun) {
            try {
                change.write(plan);
            } catch (ApiException e) {
                undecided("not done: "
                        + (e.conflict() || e.invalid() ? "another writer has changed it, run status again: " : "")
                        + e.getMessage());
                return ExitCode.NOT_FIT;
            }
        }
        show(audit.tree(), audit::print);
        return ExitCode.OK;
    }
}
