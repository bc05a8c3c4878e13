package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainAuditLog.DrainAudit;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A faulty node with pods, on a real API server with the shipped rights. */
abstract class DrainFixture {

    static final Duration AN_HOUR = Duration.ofHours(1);

    final List<DrainAudit> audits = new CopyOnWriteArrayList<>();
    TestFleet fleet;
    TestPods pods;
    String bad;

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        pods = new TestPods(fleet, fleet.named("work"));
        bad = fleet.named("bad");
        fleet.node(bad);
    }

    @AfterEach
    void end() {
        if (fleet != null) {
            fleet.close();
        }
    }

    Controllers steer(KubeClient api, boolean armed, DrainPolicies policies) {
        return TestPods.steer(api, "one", armed, policies, audits);
    }

    String state() {
        return fleet.get(bad, ".metadata.labels.dgxc\\.nvidia\\.com/nvsentinel-state");
    }

    String drain() {
        return fleet.get(bad, ".metadata.annotations.gpuwarden\\.dev/drain");
    }

    List<String> decisions() {
        // A decision that another writer's change overtook is made again.
        return audits.stream().map(DrainAudit::decision).distinct().toList();
    }

    void runWithGpu(String name, String gpu) {
        pods.run(bad, name, "", ", resources: {limits: {nvidia.com/gpu: 1}}", gpu.isEmpty() ? "" : """
                        , "allocatedResourcesStatus": [{"name": "nvidia.com/gpu", "resources": [{"resourceID": "%s", "health": "Healthy"}]}]
                        """.formatted(gpu));
    }
}
