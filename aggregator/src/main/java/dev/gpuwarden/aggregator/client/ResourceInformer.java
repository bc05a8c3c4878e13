package dev.gpuwarden.aggregator.client;

import dev.gpuwarden.aggregator.client.Json.PlainTree;
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
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An informer that reports all objects of a kind to a listener: first each object that exists, then each change, until it is
 * closed. It survives lost connections and outages. It stores names and versions only.
 */
public final class ResourceInformer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ResourceInformer.class.getName());

    /** 10,000 nodes in one list are 100 MB of JSON. */
    private static final long PAGE = 500;

    /**
     * A receiver of the objects and their changes, called in one thread and in order. Must not block. Names are
     * `namespace/name` if the informer follows several namespaces.
     */
    public interface Listener {
        /**
         * Called before {@link #onUpsert}, to save the work for an object that the listener has already, for example from the answer
         * to a write.
         *
         * @return true if the listener needs no call with this version
         */
        default boolean has(String name, String uid, String version) {
            return false;
        }

        /**
         * Called when an object is added or updated, and again for each object after a relist.
         *
         * @param tree the object in the form of {@link PlainTree}; the listener owns it
         */
        void onUpsert(String name, Map<String, Object> tree);

        void onDelete(String name);

        /** Called after each list, when the listener has received all of its objects. */
        default void onSynced() {}
    }

    private final ResourceKind kind;
    /** The name of the objects in the log. */
    private final String what;

    private final SharedIndexInformer<GenericKubernetesResource> informer;
    private final Stubs stubs;
    private volatile boolean failing;
    private volatile String trouble = "";

    private ResourceInformer(
            KubernetesClient client,
            ResourceKind kind,
            Map<String, String> fields,
            Listener listener,
            Runnable synced) {
        this.kind = kind;
        this.what = kind.plural() + (fields.isEmpty() ? "" : " with " + fields);
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
        if (kind.name().isPresent()) {
            this.informer = all.inNamespace(kind.namespace().orElseThrow())
                    .withName(kind.name().get())
                    .runnableInformer(0);
        } else if (kind.namespace().isPresent()) {
            this.informer = all.inNamespace(kind.namespace().get())
                    .withFields(fields)
                    .withLimit(PAGE)
                    .runnableInformer(0);
        } else {
            this.informer = all.withFields(fields).withLimit(PAGE).runnableInformer(0);
        }
        this.stubs = new Stubs();
        informer.itemStore(stubs);
        informer.exceptionHandler(this::failed);
        informer.addEventHandler(new Handler(listener, synced, client.getKubernetesSerialization()));
    }

    /** @param fields values of fields that all objects have, for example {@code spec.nodeName} of Pods */
    static ResourceInformer open(
            KubernetesClient client,
            ResourceKind kind,
            Map<String, String> fields,
            Listener listener,
            Runnable synced) {
        ResourceInformer opened = new ResourceInformer(client, kind, fields, listener, synced);
        var unused = opened.informer.start();
        return opened;
    }

    /** Returns true if the informer receives changes now. */
    public boolean watching() {
        return informer.isWatching();
    }

    /** Returns the error of the last try, for example a missing right; empty after a success. */
    public String trouble() {
        return trouble;
    }

    /** Returns the number of objects. */
    public int size() {
        return stubs.size();
    }

    /** Returns the name under which the listener receives the object. */
    private String name(ObjectMeta metadata) {
        return kind.namespace().isEmpty() && metadata.getNamespace() != null
                ? metadata.getNamespace() + "/" + metadata.getName()
                : metadata.getName();
    }

    /** Always asks for another try. Otherwise fabric8 would give up on the first error that is no network error. */
    private boolean failed(boolean started, Throwable cause) {
        trouble = String.valueOf(cause.getMessage());
        if (!failing) {
            failing = true;
            LOG.log(Level.WARNING, what + " cannot be followed; the next try follows: " + cause.getMessage());
        }
        return true;
    }

    private void works() {
        trouble = "";
        if (failing) {
            failing = false;
            LOG.log(Level.INFO, what + " are followed again");
        }
    }

    @Override
    public void close() {
        informer.stop();
    }

    private final class Handler implements ResourceEventHandler<GenericKubernetesResource> {
        private final Listener listener;
        private final Runnable synced;
        private final KubernetesSerialization json;

        Handler(Listener listener, Runnable synced, KubernetesSerialization json) {
            this.listener = listener;
            this.synced = synced;
            this.json = json;
        }

        @Override
        public void onAdd(GenericKubernetesResource resource) {
            works();
            ObjectMeta metadata = resource.getMetadata();
            if (!listener.has(name(metadata), metadata.getUid(), metadata.getResourceVersion())) {
                listener.onUpsert(name(metadata), tree(resource));
            }
        }

        private Map<String, Object> tree(GenericKubernetesResource resource) {
            Map<String, Object> tree = new LinkedHashMap<>(resource.getAdditionalProperties());
            tree.put("apiVersion", resource.getApiVersion());
            tree.put("kind", resource.getKind());
            tree.put("metadata", json.convertValue(resource.getMetadata(), Map.class));
            // The API server writes the times of some conditions as null.
            return PlainTree.of(tree);
        }

        @Override
        public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource resource) {
            onAdd(resource);
        }

        @Override
        public void onDelete(GenericKubernetesResource resource, boolean unknown) {
            listener.onDelete(name(resource.getMetadata()));
        }

        @Override
        public void onList(String resourceVersion, boolean remainedEmpty) {
            works();
            listener.onSynced();
            synced.run();
        }
    }

    /** The fields that show if an object is new, changed or deleted: 190 bytes, with a name of 16 characters. */
    private final class Stubs implements ItemStore<GenericKubernetesResource> {

        private record Stub(String uid, String version) {}

        private final Map<String, Stub> stubs = new ConcurrentHashMap<>();

        @Override
        public String getKey(GenericKubernetesResource resource) {
            return name(resource.getMetadata());
        }

        @Override
        public @Nullable GenericKubernetesResource put(String key, GenericKubernetesResource resource) {
            ObjectMeta full = resource.getMetadata();
            return whole(key, stubs.put(key, new Stub(full.getUid(), full.getResourceVersion())));
        }

        private @Nullable GenericKubernetesResource whole(String key, @Nullable Stub stub) {
            if (stub == null) {
                return null;
            }
            int slash = kind.namespace().isEmpty() ? key.indexOf('/') : -1;
            ObjectMeta few = new ObjectMeta();
            if (slash >= 0) {
                few.setNamespace(key.substring(0, slash));
            }
            few.setName(key.substring(slash + 1));
            few.setUid(stub.uid());
            few.setResourceVersion(stub.version());
            GenericKubernetesResource resource = new GenericKubernetesResource();
            resource.setMetadata(few);
            return resource;
        }

        @Override
        public @Nullable GenericKubernetesResource remove(String key) {
            return whole(key, stubs.remove(key));
        }

        @Override
        public Stream<String> keySet() {
            return stubs.keySet().stream();
        }

        @Override
        public Stream<GenericKubernetesResource> values() {
            return stubs.entrySet().stream()
                    .map(entry -> Objects.requireNonNull(whole(entry.getKey(), entry.getValue())));
        }

        @Override
        public @Nullable GenericKubernetesResource get(String key) {
            return whole(key, stubs.get(key));
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
