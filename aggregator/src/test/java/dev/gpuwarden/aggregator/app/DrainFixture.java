package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.part.AuditLog.Entry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The drains of a node. */
abstract class DrainFixture extends FaultyNodeFixture {

    static final Duration AN_HOUR = Duration.ofHours(1);

    final List<Entry> audits = new CopyOnWriteArrayList<>();

    Controllers steer(KubeClient api, boolean armed, DrainPolicies policies) {
        return TestPods.steer(api, "one", armed, policies, audits);
    }

    List<String> decisions() {
        // A decision that another writer's change overtook is made again.
        return audits.stream().map(Entry::decision).distinct().toList();
    }

    void runWithGpu(String name, String gpu) {
        pods.run(bad, name, "", ", resources: {limits: {nvidia.com/gpu: 1}}", gpu.isEmpty() ? "" : """
                        , "allocatedResourcesStatus": [{"name": "nvidia.com/gpu", "resources": [{"resourceID": "%s", "health": "Healthy"}]}]
                        """.formatted(gpu));
    }
}
