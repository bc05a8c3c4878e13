package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Drains by replicas whose clocks differ, on a real API server. */
@Tag("api")
class DrainClockTest extends DrainFixture {

    @Test
    void successorWhoseClockIsAheadDeletesNoPodEarly() {
        pods.run(bad, "slow");
        DrainPolicies policies = TestPods.policies(DrainMode.DELETE_AFTER_TIMEOUT, Duration.ofMinutes(5));
        try (KubeClient api = fleet.asAggregator();
                Controllers first = steer(api, true, policies)) {
            until(first::works, "the first leads");
            fleet.fail(bad);
            until(() -> drain().contains("it is deleted at"), "the node has the time");
        }
        Clock ahead = Clock.offset(Clock.systemUTC(), Duration.ofMinutes(10));
        try (KubeClient api = fleet.asAggregator(ahead);
                Controllers second = steer(api, true, policies)) {
            until(second::works, "the second leads");
            pods.run(bad, "next");
            until(() -> drain().contains("\"left\":2"), "it goes on with the drain");
            assertThat(pods.untouched()).containsExactly("next", "slow");
            assertThat(decisions()).doesNotContain("delete");
            assertThat(second.failing()).isZero();
        }
    }
}
