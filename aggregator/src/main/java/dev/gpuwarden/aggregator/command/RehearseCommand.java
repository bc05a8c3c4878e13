package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.client.AccessReviewer.Account;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.rehearsal.PipelineSettings;
import dev.gpuwarden.aggregator.rehearsal.Rehearsal;
import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that shows what the aggregator would do with a node if a fault came now. */
@Command(
        name = "rehearse",
        mixinStandardHelpOptions = true,
        description = {
            "Show what the aggregator would do with a node if a fault came now, and if it has the rights for that.",
            "The API server validates each write as a dry run, and nothing changes. Uses the Kubernetes API with your"
                    + " own rights."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the node would be repaired and would return",
            "1:the timeline stops before that, or a right is missing",
            "2:wrong usage, no such node or GPU, or a node in quarantine already",
            "3:undecided: a step could not be validated, or the cluster does not answer"
        })
public final class RehearseCommand extends ClusterCommand.ReadCommand {

    private static final int MOST_FAULTS = 8;
    private static final Duration LONGEST = Duration.ofMinutes(10);

    /** The reader of the settings of a deployed aggregator. */
    public interface SettingsReader {
        /** @param templates file of the users' templates; empty if none was given */
        PipelineSettings read(KubeClient api, String namespace, String deployment, Optional<Path> templates)
                throws InterruptedException;
    }

    private final SettingsReader settings;

    @Parameters(paramLabel = "NODE", description = "Its name, as in kubectl get nodes.")
    String node = "";

    @Option(
            names = "--fault",
            required = true,
            paramLabel = "FAULT",
            description =
                    "The fault: xid=CODE as in the kernel log, or check=NAME/ACTION for a check of the daemon that"
                            + " requests this action. Can be given several times.")
    List<String> faults = new ArrayList<>();

    @Option(
            names = "--gpu",
            paramLabel = "GPU",
            description = "Index or UUID of the GPU (default: a faulty one, else the first of the node).")
    @Nullable String gpu;

    @Option(
            names = "--service-account",
            defaultValue = "gpuwarden-aggregator",
            paramLabel = "NAME",
            description = "The aggregator's ServiceAccount in its namespace (default: ${DEFAULT-VALUE}).")
    String account = "gpuwarden-aggregator";

    @Option(
            names = "--deployment",
            defaultValue = "gpuwarden-aggregator",
            paramLabel = "NAME",
            description = "The aggregator's Deployment, for its modes and settings (default: ${DEFAULT-VALUE}).")
    String deployment = "gpuwarden-aggregator";

    @Option(
            names = "--templates",
            paramLabel = "FILE",
            description =
                    "File of --remediation.templates, which is not read from the cluster: the rehearsal acts as if the"
                            + " aggregator had it.")
    @Nullable Path templates;

    @Option(
            names = "--timeout",
            defaultValue = "60s",
            paramLabel = "DURATION",
            description = "Time after which no further write is validated (default: ${DEFAULT-VALUE}).")
    Duration timeout = Duration.ofSeconds(60);

    public RehearseCommand(Map<String, String> environment, Clock clock, SettingsReader settings) {
        super(environment, clock);
        this.settings = settings;
    }

    @Override
    int ask(KubeClient api) throws ApiException, InterruptedException {
        NodeCommand.named(node);
        NodeCommand.named(account);
        NodeCommand.named(deployment);
        if (faults.size() > MOST_FAULTS) {
            throw new UserError("--fault: expected at most " + MOST_FAULTS + " faults, found " + faults.size());
        }
        if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(LONGEST) > 0) {
            throw new UserError("--timeout must be above 0 and at most 10m, but was " + timeout);
        }
        String namespace = breaker.namespace();
        try {
            Rehearsal.Request request = new Rehearsal.Request(
                    node, faults, Optional.ofNullable(gpu), new Account(namespace, account), timeout);
            Rehearsal rehearsal = new Rehearsal(
                    api,
                    reader(api),
                    settings.read(api, namespace, deployment, Optional.ofNullable(templates)),
                    request,
                    clock);
            RehearsalReport report = new RehearsalReport(rehearsal.run());
            show(report.tree(), report::print);
            return report.exitCode();
        } catch (IllegalArgumentException e) {
            throw new UserError(String.valueOf(e.getMessage()));
        }
    }
}
