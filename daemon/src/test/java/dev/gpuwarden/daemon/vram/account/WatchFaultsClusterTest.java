package dev.gpuwarden.daemon.vram.account;

import static dev.gpuwarden.testkit.Await.until;

import dev.gpuwarden.daemon.kube.TestCluster;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The watch of a node's pods across faults of the API server and of the network. */
class WatchFaultsClusterTest extends AccountFixture {

    @Test
    void aBrokenOrOutdatedWatchLosesNoPod() throws Exception {
        run("first", node, "1");
        try (FaultyApi between = new FaultyApi(plane)) {
            String kubeconfig = between.kubeconfig(TestCluster.token(plane, node));
            between.fail(ApiCall.watch("/pods"), 1, ApiFault.gone());
            between.fail(ApiCall.watch("/pods"), 1, ApiFault.goneInWatch());
            between.fail(ApiCall.watch("/pods"), 1, ApiFault.unavailable());
            NodeAccount account = start(kubeconfig, Duration.ofSeconds(90));
            until(() -> names(account).equals(Set.of("first=1")), "the first list");
            until(() -> between.count(ApiCall.watch("/pods")) == 4, "a watch after each fault");
            between.cut();
            run("second", node, "2");
            until(() -> names(account).equals(Set.of("first=1", "second=2")), "the pod after the cut");
        }
    }
}
