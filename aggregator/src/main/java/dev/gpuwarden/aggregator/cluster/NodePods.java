package dev.gpuwarden.aggregator.cluster;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps somebody told of the pods of one node: first of each that is there, then of each change, through lost connections and
 * outages, until it is closed. Costs a list and a watch; itself it remembers UIDs and versions only.
 */
public final class NodePods implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(NodePods.class.getName());

    /** Told in one thread, in order. Must not block. */
    public interface Listener {
        /** It is there, as this says, which is the listener's to keep. Called again with the same after an outage. */
        void there(Map<String, Object> tree);

        void gone(String uid);

        /** All that was there at one moment has been told. */
        void complete();
    }

    private final String node;
    private final SharedIndexInformer<GenericKubernetesResource> informer;
    private volatile boolean failing;

    private NodePods(KubernetesClient client, String node, Listener listener) {
        this.node = node;
        this.informer = client.genericKubernetesResources(new ResourceDefinitionContext.Builder()
                        .withVersion("v1")
                        .withPlural("pods")
                        .withKind("Pod")
                        .withNamespaced(true)
                        .build())
                .inAnyNamespace()
                .withField("spec.nodeName", node)
                .runnableInformer(0);
        informer.itemStore(new Stubs());
        informer.exceptionHandler(this::failed);
        informer.addEventHandler(new Handler(listener, client.getKubernetesSerialization()));
    }

    static NodePods open(KubernetesClient client, String node, Listener listener) {
        NodePods pods = new NodePods(client, node, listener);
        var unused = pods.informer.start();
        return pods;
    }

    private boolean failed(boolean started, Throwable cause) {
        if (!failing) {
            failing = true;
            LOG.log(
                    Level.WARNING,
                    "pods of node " + node + " cannot be followed, which is tried again: " + cause.getMessage());
        }
        return true;
    }

    @Override
    public void close() {
        informer.stop();
    }

    private final class Handler implements ResourceEventHandler<GenericKubernetesResource> {
        private final Listener listener;
        private final KubernetesSerialization json;

        Handler(Listener listener, KubernetesSerialization json) {
            this.listener = listener;
            this.json = json;
        }

        @Override
        @SuppressWarnings("unchecked") // fields of a JSON object are named by strings
        public void onAdd(GenericKubernetesResource pod) {
            failing = false;
            Map<String, Object> tree = new LinkedHashMap<>(pod.getAdditionalProperties());
            tree.put("metadata", json.convertValue(pod.getMetadata(), Map.class));
            listener.there(tree);
        }

        @Override
        public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource pod) {
            onAdd(pod);
        }

        @Override
        public void onDelete(GenericKubernetesResource pod, boolean unknown) {
            listener.gone(pod.getMetadata().getUid());
        }

        @Override
        public void onList(String resourceVersion, boolean remainedEmpty) {
            failing = false;
            listener.complete();
        }
    }

    /** By UID: a pod of a StatefulSet has the name of the one before. */
    private static final class Stubs implements ItemStore<GenericKubernetesResource> {
        private final Map<String, GenericKubernetesResource> stubs = new ConcurrentHashMap<>();

        @Override
        public String getKey(GenericKubernetesResource resource) {
            return resource.getMetadata().getUid();
        }

        @Override
        public @Nullable GenericKubernetesResource put(String key, GenericKubernetesResource resource) {
            ObjectMeta full = resource.getMetadata();
            ObjectMeta few = new ObjectMeta();
            few.setName(full.getName());
            few.setNamespace(full.getNamespace());
            few.setUid(full.getUid());
            few.setResourceVersion(full.getResourceVersion());
            GenericKubernetesResource stub = new GenericKubernetesResource();
            stub.setMetadata(few);
            return stubs.put(key, stub);
        }

        @Override
        public @Nullable GenericKubernetesResource remove(String key) {
            return stubs.remove(key);
        }

        @Override
        public Stream<String> keySet() {
            return stubs.keySet().stream();
        }

        @Override
        public Stream<GenericKubernetesResource> values() {
            return stubs.values().stream();
        }

        @Override
        public @Nullable GenericKubernetesResource get(String key) {
            return stubs.get(key);
        }

        @Override
        public int size() {
            return stubs.size();
        }

        @Override
        public boolean isFullState() {
            return false;
        }
    }
}
