package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.ListChecksRequest;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc.NodeServiceBlockingStub;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.time.Clock;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;

/** Shows the daemon's data about its node. */
@Command(
        name = "status",
        description = "Show whether this node is fit, and its faults, as its daemon reports them.",
        exitCodeList = {
            "0:fit",
            "1:not fit, or no permission",
            "2:wrong usage or configuration",
            "3:undecided, or no daemon answers"
        })
public final class StatusCommand extends ClientCommand {

    private final Clock clock;

    public StatusCommand(Clock clock) {
        this.clock = clock;
    }

    @Override
    int ask(NodeClient node) {
        NodeServiceBlockingStub daemon = queries(node);
        StatusReport report = StatusReport.of(
                daemon.getNode(GetNodeRequest.getDefaultInstance()),
                ClientGpus.ask(daemon).gpus(),
                daemon.listFaults(ListFaultsRequest.getDefaultInstance()),
                daemon.listChecks(ListChecksRequest.getDefaultInstance()).getChecksList(),
                storing(node));
        show(report.tree(), out -> new StatusText(report).print(clock.instant(), out));
        return ExitCode.of(report.verdict());
    }

    /** Returns whether events can be stored. The daemon reports it through the health service, which reporters use too. */
    static boolean storing(NodeClient node) {
        return HealthGrpc.newBlockingStub(node.channel())
                        .withDeadlineAfter(10, TimeUnit.SECONDS)
                        .check(HealthCheckRequest.newBuilder()
                                .setService(PlatformConnectorGrpc.SERVICE_NAME)
                                .build())
                        .getStatus()
                == ServingStatus.SERVING;
    }
}
