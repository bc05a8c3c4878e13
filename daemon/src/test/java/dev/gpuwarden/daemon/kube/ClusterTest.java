package dev.gpuwarden.daemon.kube;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Told;
import dev.gpuwarden.testkit.cluster.Relay;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A node's state against a real API server, with the rights of the shipped manifests and no more. */
@ExtendWith(UsedRights.class)
class ClusterTest extends ClusterFixture {

    @Test
    void aFaultSetsAndClearsConditionEventAndLabelAndLeavesOthersAlone() {
        start();
        until(() -> TestCluster.label(plane, node).equals("PASS"));
        assertThat(condition(XID)).as("what never was is not called well").isEmpty();
        accept(Told.xid79("0000:3b:00"));
        until(() -> condition(XID)
                .equals("True SysLogsXIDErrorIsNotHealthy ErrorCode:79 PCI:0000:3b:00 GPU_UUID:GPU-0000:3b:00"
                        + " fell off the bus Recommended Action=RESTART_BM;"));
        until(() -> TestCluster.label(plane, node).equals("EVICT"));
        until(() -> eventLines().equals("Warning SysLogsXIDErrorIsNotHealthy 1\n"));
        assertThat(plane.kubectl("describe", "node", node))
                .containsPattern("SysLogsXIDError +True ")
                .containsPattern("Warning +SysLogsXIDErrorIsNotHealthy .* gpuwarden +ErrorCode:79 PCI:0000:3b:00");
        accept(Told.xid79("0000:3b:00").fatal(false).healthy(true).message("replaced"));
        until(() -> condition(XID).equals("False SysLogsXIDErrorIsHealthy No Health Failures"));
        until(() -> eventLines().equals("Warning SysLogsXIDErrorIsNotHealthy 1\nNormal SysLogsXIDErrorIsHealthy 1\n"));
        until(() -> TestCluster.label(plane, node).equals("PASS"));
        assertThat(condition("Ready")).isEqualTo("True KubeletReady ");
        assertThat(condition("KernelDeadlock")).isEqualTo("False KernelHasNoDeadlock ");
        assertThat(plane.client().get("node/" + node, ".metadata.labels.zone")).isEqualTo("a");
    }

    @Test
    void aFaultThatIsNotFatalIsAnEventAndNoCondition() {
        start();
        accept(Told.xid79("0000:3b:00").fatal(false));
        until(() -> eventLines().equals("SysLogsXIDError SysLogsXIDErrorIsNotHealthy 1\n"));
        until(() -> TestCluster.label(plane, node).equals("WARN"));
        assertThat(condition(XID)).isEmpty();
    }

    @Test
    void aCheckThatIsCalledReadyDoesNotMakeTheNodeUnready() {
        start();
        accept(Told.fatal("Ready").message("I say so"));
        until(() -> condition("gpuwarden.dev/Ready").startsWith("True ReadyIsNotHealthy Check:Ready I say so"));
        assertThat(condition("Ready")).isEqualTo("True KubeletReady ");
    }

    @Test
    void aRestartWritesOnlyConditionsThatChangedWhileItWasDown() {
        start();
        accept(Told.xid79("0000:3b:00"));
        accept(Told.fatal("Other"));
        until(() -> condition(XID).startsWith("True") && condition("Other").startsWith("True"));
        until(() -> eventLines().lines().count() == 2);
        until(() -> TestCluster.label(plane, node).equals("EVICT"));
        stop();
        String transition = ".status.conditions[?(@.type==\"" + XID + "\")].lastTransitionTime";
        String since = plane.client().get("node/" + node, transition);
        complete = false;
        start();
        until(() -> stats(ApiRequest.Kind.read).ok() == 1);
        accept(Told.fatal("Other").fatal(false).healthy(true));
        until(() -> eventLines().lines().count() == 3);
        assertThat(condition("Other")).as("not before all checks have looked").startsWith("True");
        assertThat(stats(ApiRequest.Kind.conditions).ok()).isZero();
        complete = true;
        writer.wake();
        until(() -> condition("Other").startsWith("False"));
        until(() -> stats(ApiRequest.Kind.conditions).ok() == 1);
        assertThat(stats(ApiRequest.Kind.labels).ok()).isZero();
        assertThat(condition(XID)).startsWith("True");
        assertThat(plane.client().get("node/" + node, transition)).isEqualTo(since);
        assertThat(eventLines().lines().count()).isEqualTo(3);
        assertThat(stats(ApiRequest.Kind.conditions).ok()).isEqualTo(1);
    }

    @Test
    void removedConditionsAndLabelsAreWrittenAgain() {
        start(options(), Duration.ofSeconds(1));
        accept(Told.xid79("0000:3b:00"));
        until(() -> condition(XID).startsWith("True")
                && TestCluster.label(plane, node).equals("EVICT"));
        String without = "{\"status\":{\"conditions\":[{\"$patch\":\"delete\",\"type\":\"" + XID + "\"}]}}";
        var patched = plane.kubectl("patch", "node", node, "--subresource=status", "--patch", without);
        plane.client().patch("node/" + node, "{\"metadata\":{\"labels\":{\"autopilot.ibm.com/gpuhealth\":\"PASS\"}}}");
        until(() -> condition(XID).startsWith("True")
                && TestCluster.label(plane, node).equals("EVICT"));
        assertThat(patched).contains("patched");
    }

    @Test
    void aServerThatIsAwayLosesNothing() throws IOException {
        try (Relay relay = new Relay(URI.create(plane.url()).getPort())) {
            String direct = Files.readString(kubeconfig);
            Files.writeString(kubeconfig, direct.replace(plane.url(), "https://127.0.0.1:" + relay.port()));
            start();
            // Not by the label there: its answer may be on the way still, and would be what fails.
            until(() -> stats(ApiRequest.Kind.labels).ok() == 1);
            relay.away();
            accept(Told.xid79("0000:3b:00"));
            accept(Told.fatal("Other"));
            accept(Told.fatal("Other").fatal(false).healthy(true));
            until(() -> stats(ApiRequest.Kind.conditions).failed() > 0
                    && events.stats().failures() > 0);
            assertThat(stats(ApiRequest.Kind.conditions).lastError()).contains("cannot be asked");
            relay.back();
            until(() -> condition(XID).startsWith("True"));
            until(() -> eventLines().lines().count() == 3);
            until(() -> TestCluster.label(plane, node).equals("EVICT"));
            assertThat(condition("Other"))
                    .as("it came and went while nobody looked")
                    .isEmpty();
            until(() -> store.lag("kubernetes").waiting() == 0);
        }
    }

    @Test
    void aFailureThatNoLongerMattersIsNoTroubleAnyMore() throws IOException {
        try (Relay relay = new Relay(URI.create(plane.url()).getPort())) {
            String direct = Files.readString(kubeconfig);
            Files.writeString(kubeconfig, direct.replace(plane.url(), "https://127.0.0.1:" + relay.port()));
            start();
            // Not by the label there: its answer may be on the way still, and would be what fails.
            until(() -> stats(ApiRequest.Kind.labels).ok() == 1);
            relay.away();
            accept(Told.xid79("0000:3b:00"));
            until(() -> stats(ApiRequest.Kind.conditions).failed() == 1
                    && kubernetes.trouble().isPresent());
            accept(Told.xid79("0000:3b:00").fatal(false).healthy(true));
            relay.back();
            until(() -> kubernetes.trouble().isEmpty());
            assertThat(stats(ApiRequest.Kind.conditions).ok())
                    .as("nothing to write")
                    .isZero();
        }
    }

    @Test
    void anEventThatWasSentAndNotNotedIsNotSentTwice() throws Exception {
        start();
        accept(Told.xid79("0000:3b:00"));
        until(() -> eventLines().equals("Warning SysLogsXIDErrorIsNotHealthy 1\n"));
        KubeClient client = new KubeClient(Kubeconfig.read(kubeconfig), false, Clock.systemUTC(), new KubeCounters());
        KubernetesNode.EventSink sink = new KubernetesNode.EventSink(node, false, client, new EventRepeats());
        var stored = store.events(dev.gpuwarden.core.event.EventFilter.all());
        sink.send(stored);
        assertThat(eventLines()).isEqualTo("Warning SysLogsXIDErrorIsNotHealthy 1\n");
        client.close();
    }

    @Test
    void repetitionsAreCountedOnTheSameEvent() {
        start();
        accept(Told.xid79("0000:3b:00"));
        until(() -> events.stats().sent() == 1);
        accept(Told.xid79("0000:3b:00"));
        until(() -> eventLines().equals("Warning SysLogsXIDErrorIsNotHealthy 2\n"));
        assertThat(stats(ApiRequest.Kind.events).refused()).isZero();
    }

    @Test
    void aDryRunChangesNothing() {
        String before = plane.client().get("node/" + node, ".metadata.resourceVersion");
        KubernetesOptions options = options();
        options.dryRun = true;
        start(options, Duration.ofMillis(100));
        accept(Told.xid79("0000:3b:00"));
        until(() -> stats(ApiRequest.Kind.conditions).ok() == 1
                && stats(ApiRequest.Kind.labels).ok() > 0
                && stats(ApiRequest.Kind.events).ok() == 1);
        writer.wake();
        assertThat(eventLines()).isEmpty();
        assertThat(plane.client().get("node/" + node, ".metadata.resourceVersion"))
                .isEqualTo(before);
        assertThat(stats(ApiRequest.Kind.conditions).ok()).isEqualTo(1);
    }
}
