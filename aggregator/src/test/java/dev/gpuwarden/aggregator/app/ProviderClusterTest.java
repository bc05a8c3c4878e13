package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.app.Workshop.Running;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.provider.GrpcNodeProvider;
import dev.gpuwarden.aggregator.provider.TestProvider;
import dev.gpuwarden.testkit.cluster.UsedRights;
import io.grpc.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Tests of reboots and terminations by a provider and by a program, with a real API server and a real gRPC server with TLS. */
@Tag("api")
@ExtendWith(UsedRights.class)
class ProviderClusterTest {

    private static final String SENT = "SignalSent";

    @TempDir
    Path folder;

    private TestFleet fleet;
    private Workshop shop;
    private KubeClient api;
    private TestProvider provider;
    private Running running;

    @BeforeEach
    void start() throws Exception {
        fleet = TestFleet.start();
        shop = new Workshop(fleet);
        api = fleet.asAggregator();
        provider = new TestProvider(folder);
        Path token = Files.writeString(folder.resolve("token"), "one");
        provider.expects("one");
        running = start("one", RebootProvider.PROVIDER, token);
    }

    private Running start(String identity, RebootProvider way, Path token) {
        return Workshop.start(
                api,
                identity,
                way,
                new GrpcNodeProvider(provider.address(token)),
                Workshop.times(Duration.ofMinutes(1)));
    }

    @AfterEach
    void end() {
        if (running != null) {
            running.close();
            api.close();
            fleet.client.delete("lease/gpuwarden/gpuwarden-aggregator");
        }
        provider.close();
        if (fleet != null) {
            shop.remove();
            fleet.close();
        }
    }

    private void over(String resource, String node) {
        until(
                () -> shop.over(resource, node),
                () -> resource + " is over, seen " + fleet.client.find(resource.replace("/", "/maintenance-")));
    }

    @Test
    void anotherBootIdProvesTheRebootThatTheProviderAccepted() {
        shop.node("asked");
        shop.reboot("asked");
        until(
                () -> shop.condition("rebootnode/asked", SENT).equals("True Requested"),
                () -> "it is requested, seen " + shop.of("rebootnode/asked", ".status"));
        assertThat(shop.message("rebootnode/asked", SENT)).isEqualTo("the provider accepted the request request-1");
        assertThat(shop.of("rebootnode/asked", ".status.completionTime")).isEmpty();
        shop.boot("asked", "asked-boot-2");
        over("rebootnode/asked", "asked");
        assertThat(shop.condition("rebootnode/asked", "NodeReady")).isEqualTo("True Rebooted");
        assertThat(provider.requests).containsExactly("reboot asked maintenance-asked");
        assertThat(fleet.client.find("jobs/gpuwarden", ".items")).isEqualTo("[]");
    }

    @Test
    void aRefusalIsAFailureWithTheProvidersWords() {
        provider.behaves(request -> Status.INTERNAL.withDescription("no such machine"));
        shop.node("refused");
        shop.reboot("refused");
        over("rebootnode/refused", "refused");
        assertThat(shop.condition("rebootnode/refused", "NodeReady")).isEqualTo("False ProviderRefused");
        assertThat(shop.message("rebootnode/refused", "NodeReady")).endsWith("seen INTERNAL: no such machine");
    }

    @Test
    void aRequestWithoutAnAnswerIsAwaitedAndNeverRepeated() {
        provider.behaves(request -> Status.UNAVAILABLE);
        shop.node("silent");
        shop.reboot("silent");
        until(
                () -> shop.message("rebootnode/silent", SENT).endsWith("so it is not repeated"),
                () -> "the answer is missing, seen " + shop.of("rebootnode/silent", ".status"));
        running.close();
        running = start("two", RebootProvider.PROVIDER, folder.resolve("token"));
        shop.node("next");
        provider.behaves(request -> Status.OK);
        shop.reboot("next");
        until(() -> shop.condition("rebootnode/next", SENT).equals("True Requested"), "the next leader acts");
        shop.boot("silent", "silent-boot-2");
        over("rebootnode/silent", "silent");
        assertThat(shop.condition("rebootnode/silent", "NodeReady")).isEqualTo("True Rebooted");
        assertThat(provider.requests)
                .isEqualTo(List.of("reboot silent maintenance-silent", "reboot next maintenance-next"));
    }

    @Test
    void theOperatorsProgramRunsOnAnotherNodeAndABootIdProvesTheReboot() {
        running.close();
        running = start("two", RebootProvider.COMMAND, folder.resolve("token"));
        shop.node("power");
        shop.create("RebootNode", "power", "power", "force: true");
        until(
                () -> shop.condition("rebootnode/power", SENT).equals("True JobCreated"),
                () -> "it is requested, seen " + shop.of("rebootnode/power", ".status"));
        String job = "job/gpuwarden/" + shop.of("rebootnode/power", ".status.jobRef.name");
        until(() -> fleet.client.find(job, ".spec.suspend").equals("false"), "it starts");
        String pod = ".spec.template.spec.";
        assertThat(
                        fleet.client.find(
                                job,
                                pod
                                        + "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values"))
                .isEqualTo("[\"power\"]");
        assertThat(fleet.client.find(job, pod + "containers[0].command")).isEqualTo("[\"power\",\"--cycle\"]");
        assertThat(fleet.client.find(job, pod + "containers[0].env[*].value"))
                .isEqualTo("reboot power power-boot-1 maintenance-power true");
        assertThat(fleet.client.find(job, pod + "containers[0].envFrom[0].secretRef.name"))
                .isEqualTo("bmc");
        shop.boot("power", "power-boot-2");
        over("rebootnode/power", "power");
        assertThat(shop.condition("rebootnode/power", "NodeReady")).isEqualTo("True Rebooted");
        assertThat(provider.requests).isEmpty();
    }

    @Test
    void aTerminationIsCompleteWhenTheNodeIsGone() {
        shop.node("ended");
        shop.create("TerminateNode", "ended", "ended", "force: false");
        until(
                () -> shop.condition("terminatenode/ended", SENT).equals("True Requested"),
                () -> "it is requested, seen " + shop.of("terminatenode/ended", ".status"));
        fleet.client.delete("node/ended");
        until(
                () -> shop.condition("terminatenode/ended", "NodeTerminated").equals("True NodeGone"),
                "it is terminated");
        assertThat(provider.requests).containsExactly("terminate ended");
    }
}
