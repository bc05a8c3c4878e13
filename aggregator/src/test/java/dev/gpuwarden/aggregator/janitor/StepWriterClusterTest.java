package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.JanitorTimes;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import dev.gpuwarden.testkit.TestClock;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that a replica that stood still sends no late request to a provider. Another replica may lead by then. */
@Tag("api")
class StepWriterClusterTest {

    private static final MaintenanceKind KIND = MaintenanceKind.REBOOT_NODE;
    private static final Path CRD = Path.of(
            System.getProperty("gpuwarden.repository"),
            "packaging/src/main/kubernetes/crds/rebootnodes.janitor.dgxc.nvidia.com.yaml");

    private final ControlPlane plane = plane();
    private final TestClock clock = new TestClock();
    private final List<String> requests = new ArrayList<>();

    private static ControlPlane plane() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        return ControlPlane.shared();
    }

    private final NodeProvider provider = () -> new NodeProvider.Connection() {
        @Override
        public NodeProvider.Answer reboot(String node, String resource) {
            requests.add(resource);
            return new NodeProvider.Answer.Accepted("");
        }

        @Override
        public NodeProvider.Answer terminate(String node) {
            throw new AssertionError(node);
        }

        @Override
        public void close() {}
    };

    @ParameterizedTest
    @CsvSource({"15, Requested", "16, ProviderRefused"})
    void replicaThatStoodStillDuringTheWriteOfItsIntentionSendsNoRequest(int seconds, String reason) throws Exception {
        String name = "stood-still-" + seconds;
        plane.client().apply(Files.readString(CRD));
        plane.client().apply("""
            {apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: RebootNode, metadata: {name: %s},
            spec: {nodeName: none}}\
            """.formatted(name));
        try (FaultyApi faulty = new FaultyApi(plane);
                KubeClient api = KubeClient.connect(config(faulty))) {
            Predicate<ApiCall> intention = ApiCall.of("PATCH", name + "/status");
            // The predicate sees the write, and passes it on.
            faulty.fail(
                    call -> {
                        if (intention.test(call)) {
                            clock.advance(Duration.ofSeconds(seconds));
                        }
                        return false;
                    },
                    new ApiFault.Delay(Duration.ZERO));
            StepWriter writer = new StepWriter(
                    api,
                    new NodeLock(api, "default"),
                    new JobReader(api, "default"),
                    JanitorWorld.SETTINGS,
                    provider,
                    clock,
                    clock);
            Maintenance resource = read(api, name);
            Progress.Change change = new Progress.Change(resource.progress(), clock.instant())
                    .condition(NodeSignal.SENT, false, NodeSignal.REQUESTING, "the provider is asked");
            assertThat(writer.write(resource, new Step.Request(change))).isPresent();
            assertThat(read(api, name)
                            .progress()
                            .condition(NodeSignal.SENT)
                            .orElseThrow()
                            .reason())
                    .isEqualTo(reason);
            assertThat(requests).isEqualTo(seconds == 15 ? List.of(name) : List.of());
        } finally {
            plane.client().deleteNow("rebootnode/" + name);
        }
    }

    @Test
    void jobThatAnotherControllerHasChangedIsNotStarted() throws Exception {
        plane.client().apply(Files.readString(CRD));
        plane.client().apply("""
            {apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: RebootNode, metadata: {name: started-once},
            spec: {nodeName: none}}\
            """);
        try (FaultyApi plain = new FaultyApi(plane);
                KubeClient api = KubeClient.connect(config(plain))) {
            JanitorSettings there = new JanitorSettings(
                    "default",
                    "default",
                    "image",
                    RebootProvider.JOB,
                    Optional.empty(),
                    SystemNamespaces.of(""),
                    JanitorTimes.DEFAULT);
            JobReader jobs = new JobReader(api, "default");
            StepWriter writer = new StepWriter(api, new NodeLock(api, "default"), jobs, there, provider, clock, clock);
            Maintenance resource = read(api, "started-once");
            JobFacts made = writer.write(resource, new Step.CreateJob())
                    .orElseThrow()
                    .job()
                    .orElseThrow();
            assertThat(made.waits()).isTrue();
            Progress.JobRef ref = new Progress.JobRef("default", resource.jobName(), made.uid());
            Step start = new Step.StartJob(ref, made.version());
            assertThat(writer.write(resource, start)
                            .orElseThrow()
                            .job()
                            .orElseThrow()
                            .runs())
                    .isTrue();
            plane.client().patch("job/default/" + resource.jobName(), "{\"spec\": {\"suspend\": true}}");
            assertThat(jobs.find(resource).orElseThrow().interrupted()).isTrue();
            assertThat(writer.write(resource, start)).as("a late second start").isEmpty();
            assertThat(jobs.find(resource).orElseThrow().interrupted()).isTrue();
            plane.client().deleteNow("job/default/" + resource.jobName());
        } finally {
            plane.client().deleteNow("rebootnode/started-once");
        }
    }

    private static Maintenance read(KubeClient api, String name) throws Exception {
        return Maintenance.of(KIND, api.get(KIND.resources().path(name)));
    }

    private static Config config(FaultyApi faulty) {
        Config config = Config.fromKubeconfig(faulty.kubeconfig());
        config.setClientKeyAlgo("EC");
        return config;
    }
}
