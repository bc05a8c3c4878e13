package dev.gpuwarden.aggregator.client;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import io.fabric8.kubernetes.client.Config;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests an informer on objects of a real API server whose watches fail. */
@Tag("api")
class ResourceInformerClusterTest {

    private static final String NAMESPACE = "informer";
    private static final ResourceKind MAPS = ResourceKind.ofCluster("", "v1", "configmaps", "ConfigMap");

    private final Set<String> received = ConcurrentHashMap.newKeySet();
    private ControlPlane plane;
    private FaultyApi faulty;
    private KubeClient api;

    @BeforeEach
    void start() throws Exception {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = ControlPlane.shared();
        plane.client().apply("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}".formatted(NAMESPACE));
        faulty = new FaultyApi(plane);
        Config config = Config.fromKubeconfig(faulty.kubeconfig());
        config.setClientKeyAlgo("EC");
        config.setWatchReconnectInterval(50);
        api = KubeClient.connect(config);
    }

    @AfterEach
    void end() {
        if (api != null) {
            api.close();
            faulty.close();
            plane.client().delete("configmaps/" + NAMESPACE);
        }
    }

    private ResourceInformer informer() {
        return api.informer(MAPS, new ResourceInformer.Listener() {
            @Override
            public void onUpsert(String name, Map<String, Object> tree) {
                received.add(name);
            }

            @Override
            public void onDelete(String name) {
                received.remove(name);
            }
        });
    }

    private static Predicate<ApiCall> lists() {
        return ApiCall.of("GET", "/configmaps").and(call -> !call.isWatch());
    }

    private void create(String name) {
        plane.client()
                .apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}}"
                        .formatted(name, NAMESPACE));
        until(() -> received.contains(NAMESPACE + "/" + name), name + " arrives");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void forgottenVersionIsListedAgainInsteadOfWatchedForever(boolean inWatch) {
        try (ResourceInformer informer = informer()) {
            until(() -> faulty.count(ApiCall.watch("/configmaps")) == 1, "it watches");
            create("first-" + inWatch);
            // The API server refuses each watch from an old version, however often it is tried.
            faulty.fail(
                    ApiCall.watch("/configmaps").and(call -> faulty.count(lists()) == 1),
                    inWatch ? ApiFault.goneInWatch() : ApiFault.gone());
            faulty.cut();
            create("later-" + inWatch);
            assertThat(informer.size()).isEqualTo(received.size());
        }
    }

    @Test
    void objectWithNullFieldsIsDeliveredWithoutThem() {
        NodeCache cache = new NodeCache(Clock.systemUTC());
        try (ResourceInformer informer = api.informer(NodeCache.NODES, cache.nodes())) {
            // The API server returns the absent time of the last change of a condition as null.
            plane.client()
                    .apply("{apiVersion: v1, kind: Node, metadata: {name: null-time},"
                            + " status: {conditions: [{type: Ready, status: 'True'}]}}");
            until(() -> cache.node("null-time").isPresent(), "the Node arrives");
            assertThat(informer.size()).isPositive();
        } finally {
            plane.client().delete("nodes/null-time");
        }
    }
}
