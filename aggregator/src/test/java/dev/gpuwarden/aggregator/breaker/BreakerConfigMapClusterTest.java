package dev.gpuwarden.aggregator.breaker;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.aggregator.breaker.BreakerConfigMap.BreakerSettingsAnnotation;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.controller.StepModes;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the settings that an aggregator stores in a real API server. */
@Tag("api")
class BreakerConfigMapClusterTest {

    private static final String NAMESPACE = "breaker-store";
    private static final String CONFIG_MAP = "configmap/" + NAMESPACE + "/" + BreakerConfigMap.NAME;
    private static final List<Pool> OTHERS = Pool.Parser.parseAll(List.of("all;;rate=10%,5/1h;level=3"));

    private ControlPlane plane;
    private KubeClient api;

    @BeforeEach
    void start() throws Exception {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = ControlPlane.shared();
        Config config = Config.fromKubeconfig(Files.readString(plane.adminKubeconfig()));
        config.setClientKeyAlgo("EC");
        config.setWatchReconnectInterval(50);
        api = KubeClient.connect(config);
        plane.client().apply("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}".formatted(NAMESPACE));
    }

    @AfterEach
    void end() {
        if (api != null) {
            api.close();
            plane.client().delete("configmaps/" + NAMESPACE);
        }
    }

    private BreakerConfigMap store(BreakerSettingsAnnotation published, Runnable changed, Runnable outdated) {
        BreakerPolicy policy = new BreakerPolicy(published.pools());
        CircuitBreaker breaker = new CircuitBreaker(policy, new PoolCounts(policy), Clock.systemUTC(), () -> {});
        return new BreakerConfigMap(NAMESPACE, published, api, breaker, Clock.systemUTC(), changed, outdated);
    }

    private Map<String, Object> metadata() throws Exception {
        return JsonTrees.object(api.get(BreakerConfigMap.kind(NAMESPACE).path(BreakerConfigMap.NAME)), "metadata");
    }

    @Test
    void leaderPublishesItsSettingsBeforeAnyPoolTrips() throws Exception {
        BreakerConfigMap first = store(
                new BreakerSettingsAnnotation(ActionMode.DRY_RUN, List.of(Pool.GPU_NODES), Optional.of(StepModes.OFF)),
                () -> {},
                () -> {});
        first.save();
        assertThat(JsonTrees.texts(metadata(), "annotations"))
                .containsEntry("gpuwarden.dev/quarantine-mode", "dry-run")
                .containsEntry("gpuwarden.dev/drain-mode", "off")
                .containsEntry("gpuwarden.dev/repair-mode", "off")
                .containsEntry(
                        "gpuwarden.dev/breaker-pools", "gpu-nodes;nvidia.com/gpu.present=true;rate=50%/5m;level=50%");
        Object version = metadata().get("resourceVersion");
        first.save();
        assertThat(metadata()).as("nothing to write").containsEntry("resourceVersion", version);
    }

    @Test
    void nextLeaderPublishesItsSettingsAndKeepsEntriesOfOtherWriters() throws Exception {
        store(
                        new BreakerSettingsAnnotation(
                                ActionMode.DRY_RUN, List.of(Pool.GPU_NODES), Optional.of(StepModes.OFF)),
                        () -> {},
                        () -> {})
                .save();
        plane.client().patch(CONFIG_MAP, """
                {"metadata": {"annotations": {"theirs": "yes"}, "labels": {"theirs": "yes"}}}""");
        AtomicInteger changes = new AtomicInteger();
        AtomicInteger outdated = new AtomicInteger();
        BreakerConfigMap later = store(
                new BreakerSettingsAnnotation(ActionMode.ARMED, OTHERS, Optional.of(StepModes.OFF)),
                changes::incrementAndGet,
                outdated::incrementAndGet);
        try (ResourceInformer mirror = api.informer(later.kind(), later.listener())) {
            until(() -> mirror.watching() && outdated.get() == 1, "the settings of the other replica are seen");
            later.save();
            assertThat(BreakerSettingsAnnotation.of(JsonTrees.texts(metadata(), "annotations"))
                            .mode())
                    .isEqualTo(ActionMode.ARMED);
            assertThat(JsonTrees.texts(metadata(), "annotations"))
                    .containsEntry("theirs", "yes")
                    .containsEntry("gpuwarden.dev/breaker-pools", "all;;rate=10%,5/1h;level=3");
            assertThat(JsonTrees.texts(metadata(), "labels")).containsEntry("theirs", "yes");
            until(() -> changes.get() >= 2, "its own change arrives");
            assertThat(outdated).as("its own change is not outdated").hasValue(1);

            plane.client().delete(CONFIG_MAP);
            until(() -> outdated.get() == 2, "the deletion is seen");
            later.save();
            assertThat(JsonTrees.texts(metadata(), "annotations"))
                    .containsEntry("gpuwarden.dev/quarantine-mode", "armed");
        }
    }
}
