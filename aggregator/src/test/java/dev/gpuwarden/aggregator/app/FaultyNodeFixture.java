package dev.gpuwarden.aggregator.app;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A node for a fault, and a namespace for its pods, on a real API server with the shipped rights. */
abstract class FaultyNodeFixture {

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

    String annotation(String name) {
        return fleet.get(bad, ".metadata.annotations." + name.replace(".", "\\."));
    }

    String state() {
        return fleet.get(bad, ".metadata.labels.dgxc\\.nvidia\\.com/nvsentinel-state");
    }

    String drain() {
        return annotation("gpuwarden.dev/drain");
    }
}
