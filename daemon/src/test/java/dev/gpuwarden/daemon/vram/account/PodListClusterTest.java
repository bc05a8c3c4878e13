package dev.gpuwarden.daemon.vram.account;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.testkit.cluster.Relay;
import java.net.URI;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The budgets of a node's pods, by the daemon's own account. */
class PodListClusterTest extends AccountFixture {

    @Test
    void budgetsOfTheNodesOwnPodsArriveWheneverTheyChange() throws Exception {
        run("elsewhere", other, "3000");
        run("ocr", node, "5000");
        NodeAccount account = start();
        until(() -> names(account).equals(Set.of("ocr=5k")), "the first list");
        run("llama", node, "2k");
        until(() -> names(account).equals(Set.of("ocr=5k", "llama=2k")), "a new pod");
        plane.client().patch("pod/" + SPACE + "/ocr/status", "{\"status\": {\"phase\": \"Failed\"}}");
        until(() -> names(account).equals(Set.of("llama=2k")), "a pod that has ended is gone");
        plane.client().deleteNow("pod/" + SPACE + "/llama");
        until(() -> names(account).isEmpty(), "a deleted pod is gone");
    }

    @Test
    void anOldListIsUnknownAndNoPodIsDeletedByIt() throws Exception {
        run("leaky", node, "1800");
        String uid = uid("leaky");
        try (Relay relay = new Relay(URI.create(plane.url()).getPort())) {
            String kubeconfig = kubeconfig().replace(plane.url(), "https://127.0.0.1:" + relay.port());
            NodeAccount account = start(kubeconfig, Duration.ofSeconds(3));
            assertThat(account.pods()).as("before the first list").isInstanceOf(Reading.Absent.class);
            until(() -> names(account).equals(Set.of("leaky=1800")), "the first list");
            relay.stall();
            until(() -> names(account).equals(Set.of("unknown")), "the list is old");
            assertThat(((Reading.Absent<?>) account.pods()).text()).contains("no sign of the API server for");
            assertStays("leaky", recycle(account, uid), "does not have " + uid + " any more");
            relay.flow();
            until(() -> names(account).equals(Set.of("leaky=1800")), "the list is known again");
        }
    }

    @Test
    void aListThatIsRefusedIsUnknownWithItsCause() throws Exception {
        plane.client().apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: nobody, namespace: default}}");
        String kubeconfig = Files.readString(plane.kubeconfig(plane.token("default", "nobody")));
        NodeAccount account = start(kubeconfig, Duration.ofSeconds(90));
        until(
                () -> account.pods() instanceof Reading.Absent<?> absent
                        && absent.text().contains("cannot list resource \"pods\"")
                        && absent.text().contains("apply the component node-vram"),
                "the missing right and its remedy");
    }
}
