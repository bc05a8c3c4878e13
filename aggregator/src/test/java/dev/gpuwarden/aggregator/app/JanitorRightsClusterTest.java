package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.JanitorTimes;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Maintenance from its begin to the deletion of its resource, with the rights of the shipped manifests and no more. */
@Tag("api")
@ExtendWith(UsedRights.class)
class JanitorRightsClusterTest extends JanitorFixture {

    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final JanitorTimes FORGETFUL =
            new JanitorTimes(LIMIT, LIMIT, LIMIT, LIMIT, LIMIT, Duration.ZERO, Duration.ofMillis(50));

    JanitorRightsClusterTest() {
        super(FORGETFUL);
    }

    private void gone(String resource, String node) {
        until(
                () -> {
                    shop.play(node);
                    return fleet.client.find(resource).isEmpty();
                },
                () -> resource + " is gone, seen " + fleet.client.find(resource));
    }

    @Test
    void eachKindIsCarriedOutAndDeletedAfterItsTime() {
        for (String node : new String[] {"kept-reset", "kept-reboot", "kept-end"}) {
            shop.node(node);
        }
        shop.services("kept-reset");
        var labels = shop.labels("kept-reset");
        shop.reset("kept-reset");
        shop.reboot("kept-reboot");
        shop.create("TerminateNode", "kept-end", "kept-end", "force: false");
        gone("gpureset/maintenance-kept-reset", "kept-reset");
        assertThat(shop.labels("kept-reset")).isEqualTo(labels);
        gone("rebootnode/maintenance-kept-reboot", "kept-reboot");
        assertThat(shop.actions).containsOnlyKeys("kept-reset", "kept-reboot");
        until(() -> !shop.of("terminatenode/kept-end", ".status.startTime").isEmpty(), "it has begun");
        fleet.client.delete("node/kept-end");
        until(
                () -> fleet.client.find("terminatenode/maintenance-kept-end").isEmpty(),
                () -> "it is gone, seen " + fleet.client.find("terminatenode/maintenance-kept-end"));
        assertThat(fleet.client.get("leases/locks", ".items")).isEqualTo("[]");
    }
}
