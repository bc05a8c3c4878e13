package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;

import dev.gpuwarden.aggregator.app.Controllers;
import dev.gpuwarden.aggregator.app.TestFleet;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.tls.TestKeys;
import dev.gpuwarden.testkit.walk.EnteredFiles;
import dev.gpuwarden.testkit.walk.Walk;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Records the files that a node's report of a fault enters until the node is cordoned. */
@Tag("api")
class ReportWalkTest {

    /** The work of these threads and files follows the cordon, or has another cause. */
    private static final String[] OTHERS = {
        "gpuwarden-leadership",
        "aggregator.client.LeaderElector",
        "gpuwarden-breaker",
        "gpuwarden-queue-conditions-and-Events-of-node",
        "gpuwarden-queue-chore",
        // It starts threads of the server.
        "grpc-default-worker-ELG"
    };

    @Test
    void reportOfAFaultGoesThroughTheseFiles() throws Exception {
        new Walk("From a report to the cordon", 34).check(Report.class);
    }

    public static final class Report implements Callable<Integer> {

        @Override
        public Integer call() throws Exception {
            ControlPlane plane = TestCluster.get();
            TestKeys keys = new TestKeys(Files.createTempDirectory("walk"));
            var unused = keys.certificate("aggregator");
            IngestOptions options = new IngestOptions();
            options.listen = "127.0.0.1:0";
            options.tlsCert = keys.pem("aggregator");
            options.tlsKey = keys.key("aggregator");
            try (TestFleet fleet = TestFleet.start();
                    KubeClient api = fleet.asAggregator();
                    Controllers controllers =
                            Controllers.start(api, TestFleet.settings("walk", ActionMode.ARMED, 100), audit -> {});
                    IngestServer server = new IngestServer(
                                    options, api, "walk", controllers.cache(), List.of(), IngestSetup.PACE)
                            .listen()) {
                until(controllers::works);
                for (int number = 0; number < 4; number++) {
                    String node = "report-walk-" + number;
                    TestCluster.node(plane, node);
                    try (TestUplink uplink = new TestUplink(
                                    server.address().getPort(), keys, "", TestCluster.token(plane, node))
                            .hello(node)) {
                        uplink.faults(1, 0);
                        until(() -> !TestCluster.health(plane, node, ".status.acknowledgedSequence")
                                .isEmpty());
                        until(() -> controllers.queued() == 0);
                        if (number > 0) {
                            EnteredFiles.begin(OTHERS);
                        }
                        uplink.event(1, TestFaults.xid(node, "79"));
                        until(() -> fleet.cordoned(node));
                        uplink.awaitSequence(1);
                        until(() -> controllers.queued() == 0);
                        EnteredFiles.end();
                    }
                }
            }
            return 0;
        }
    }
}
