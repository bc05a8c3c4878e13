package dev.gpuwarden.aggregator.cluster;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
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
 * Keeps somebody told of all objects of a kind: first of each that is there, then of each change, for ever, through lost
 * connections and outages. Itself it remembers names and versions only.
 */
public final class Mirror implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Mirror.class.getName());

    /** 10,000 nodes at once are 100 MB of JSON. */
    private static final long PAGE = 500;

    /** Told in one thread, in order. Must not block. */
    public interface Listener {
        /** It is there, as this says, which is the listener's to keep. Called again with the same after an outage. */
        void there(String name, Map<String, Object> tree);

        void gone(String name);

        /** All that was there at one moment has been told. */
        void complete();
    }

    private final Kind kind;
    private final SharedIndexInformer<GenericKubernetesResource> informer;
    private volatile boolean failing;

    private Mirror(KubernetesClient client, Kind kind, Listener listener) {
        this.kind = kind;
        ResourceDefinitionContext.Builder context = new ResourceDefinitionContext.Builder()
                .withVersion(kind.version())
                .withPlural(kind.plural())
                .withKind(kind.kind())
                .withNamespaced(kind.namespace().isPresent());
        if (!kind.group().isEmpty()) {
            context = context.withGroup(kind.group());
        }
        MixedOperation<GenericKubernetesResource, GenericKubernetesResourceList, Resource<GenericKubernetesResource>>
                all = client.genericKubernetesResources(context.build());
        this.informer = kind.name().isPresent()
                ? all.inNamespace(kind.namespace().orElseThrow())
                        .withName(kind.name().get())
                        .runnableInformer(0)
                : all.withLimit(PAGE).runnableInformer(0);
        informer.itemStore(new Stubs());
        informer.exceptionHandler(this::failed);
        informer.addEventHandler(new Handler(listener, client.getKubernetesSerialization()));
    }

    static Mirror open(KubernetesClient client, Kind kind, Listener listener) {
        Mirror mirror = new Mirror(client, kind, listener);
        var unused = mirror.informer.start();
        return mirror;
    }

    /** Whether it is being told of changes now. */
    public boolean watching() {
        return informer.isWatching();
    }

    /** Always tried again: without this it would give up for good on the first error that is none of the network's. */
    private boolean failed(boolean started, Throwable cause) {
        if (!failing) {
            failing = true;
            LOG.log(Level.WARNING, kind.plural() + " cannot be followed, which is tried again: " + cause.getMessage());
        }
        return true;
    }

    private void works() {
        if (failing) {
            failing = false;
            LOG.log(Level.INFO, kind.plural() + " are followed again");
        }
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
        public void onAdd(GenericKubernetesResource resource) {
            works();
            listener.there(resource.getMetadata().getName(), tree(resource));
        }

        @SuppressWarnings("unchecked") // fields of a JSON object are named by strings
        private Map<String, Object> tree(GenericKubernetesResource resource) {
            Map<String, Object> tree = new LinkedHashMap<>(resource.getAdditionalProperties());
            tree.put("apiVersion", resource.getApiVersion());
            tree.put("kind", resource.getKind());
            tree.put("metadata", json.convertValue(resource.getMetadata(), Map.class));
            return tree;
        }

        @Override
        public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource resource) {
            onAdd(resource);
        }

        @Override
        public void onDelete(GenericKubernetesResource resource, boolean unknown) {
            listener.gone(resource.getMetadata().getName());
        }

        @Override
        public void onList(String resourceVersion, boolean remainedEmpty) {
            works();
            listener.complete();
        }
    }

    /** What is needed to see that something is new, changed or gone. */
    private static final class Stubs implements ItemStore<GenericKubernetesResource> {
        private final Map<String, GenericKubernetesResource> stubs = new ConcurrentHashMap<>();

        @Override
        public String getKey(GenericKubernetesResource resource) {
            return resource.getMetadata().getName();
        }

        @Override
        public @Nullable GenericKubernetesResource put(String key, GenericKubernetesResource resource) {
            ObjectMeta full = resource.getMetadata();
            ObjectMeta few = new ObjectMeta();
            few.setName(full.getName());
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
