package dev.gpuwarden.aggregator.breaker;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.controller.StepModes;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The ConfigMap with the state of the breaker over restarts, in which operators close it. Its annotations publish the settings
 * of the leader. Thread-safe.
 */
public final class BreakerConfigMap {

    public static final String NAME = "gpuwarden-breaker";

    /** @param metadata the metadata without the fields of the API server; entries of other writers stay */
    private record Kept(Map<String, Object> metadata, Map<String, String> data) {
        static Kept of(Map<String, Object> tree) {
            Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(tree, "metadata"));
            metadata.remove("managedFields");
            return new Kept(metadata, JsonTrees.texts(tree, "data"));
        }

        Map<String, String> annotations() {
            return JsonTrees.texts(metadata, "annotations");
        }
    }

    private final ResourceKind kind;
    private final Map<String, String> published;
    private final KubeClient api;
    private final CircuitBreaker breaker;
    private final Clock clock;
    private final Runnable changed;
    private final Runnable outdated;
    private Optional<Kept> kept = Optional.empty();

    /**
     * @param changed called after another writer changed the ConfigMap, so that refused nodes may ask again
     * @param outdated called after the ConfigMap was deleted or its settings differ: the leader must save it
     */
    public BreakerConfigMap(
            String namespace,
            BreakerSettingsAnnotation published,
            KubeClient api,
            CircuitBreaker breaker,
            Clock clock,
            Runnable changed,
            Runnable outdated) {
        this.kind = kind(namespace);
        this.published = published.annotations();
        this.api = api;
        this.breaker = breaker;
        this.clock = clock;
        this.changed = changed;
        this.outdated = outdated;
    }

    /** Returns the resource of the ConfigMap in a namespace. */
    public static ResourceKind kind(String namespace) {
        return new ResourceKind("", "v1", "configmaps", "ConfigMap", Optional.of(namespace), Optional.of(NAME));
    }

    public ResourceKind kind() {
        return kind;
    }

    /** Returns the listener of the ConfigMap's informer. */
    public ResourceInformer.Listener listener() {
        return new ResourceInformer.Listener() {
            @Override
            public void onUpsert(String name, Map<String, Object> tree) {
                seen(tree);
            }

            @Override
            public void onDelete(String name) {
                synchronized (BreakerConfigMap.this) {
                    kept = Optional.empty();
                }
                changed.run();
                outdated.run();
            }
        };
    }

    private void seen(Map<String, Object> tree) {
        Kept there = Kept.of(tree);
        synchronized (this) {
            kept = Optional.of(there);
            breaker.kept(BreakerState.of(there.data(), clock.instant()));
        }
        changed.run();
        if (!publishes(there)) {
            outdated.run();
        }
    }

    private boolean publishes(Kept there) {
        return there.annotations().entrySet().containsAll(published.entrySet());
    }

    /**
     * Writes the state of the breaker and the settings, unless the ConfigMap holds the same. Blocks until it is stored.
     *
     * @throws ApiException also if another writer has changed the ConfigMap; the informer then delivers the change
     */
    public void save() throws ApiException, InterruptedException {
        Optional<Kept> before;
        Map<String, String> data;
        synchronized (this) {
            before = kept;
            data = breaker.state().toData();
        }
        if (before.isPresent() && before.get().data().equals(data) && publishes(before.get())) {
            return;
        }
        Map<String, Object> metadata =
                new LinkedHashMap<>(before.map(Kept::metadata).orElse(Map.of("name", NAME)));
        Map<String, String> annotations =
                new LinkedHashMap<>(before.map(Kept::annotations).orElse(Map.of()));
        annotations.putAll(published);
        metadata.put("annotations", annotations);
        Map<String, Object> body = Map.of("apiVersion", "v1", "kind", "ConfigMap", "metadata", metadata, "data", data);
        Map<String, Object> answer =
                before.isPresent() ? api.replace(kind.path(NAME), body) : api.create(kind.path(), body);
        synchronized (this) {
            // A change that came during the call is as new as the answer, or newer.
            if (kept.equals(before)) {
                kept = Optional.of(Kept.of(answer));
            }
        }
    }

    /**
     * The settings of the leader, for the commands of operators. No other object of the cluster contains them.
     *
     * @param steps the modes of drains and repairs; empty if a leader of an earlier version wrote none
     */
    public record BreakerSettingsAnnotation(ActionMode mode, List<Pool> pools, Optional<StepModes> steps) {

        static final String MODE = "gpuwarden.dev/quarantine-mode";
        static final String DRAIN = "gpuwarden.dev/drain-mode";
        static final String REPAIR = "gpuwarden.dev/repair-mode";
        static final String POOLS = "gpuwarden.dev/breaker-pools";

        public BreakerSettingsAnnotation {
            pools = List.copyOf(pools);
        }

        public Map<String, String> annotations() {
            Map<String, String> annotations = new LinkedHashMap<>();
            annotations.put(MODE, mode.label());
            annotations.put(POOLS, Pool.Parser.write(pools));
            steps.ifPresent(modes -> {
                annotations.put(DRAIN, StepModes.label(modes.drain()));
                annotations.put(REPAIR, StepModes.label(modes.repair()));
            });
            return annotations;
        }

        /** @throws IllegalArgumentException with the annotation that is missing or invalid */
        public static BreakerSettingsAnnotation of(Map<String, String> annotations) {
            String mode = text(annotations, MODE);
            String pools = text(annotations, POOLS);
            ActionMode one = ActionMode.find(mode)
                    .orElseThrow(() -> new IllegalArgumentException(
                            "annotation " + MODE + ": expected armed or dry-run, found \"" + mode + "\""));
            Optional<StepModes> steps = steps(annotations);
            try {
                return new BreakerSettingsAnnotation(one, Pool.Parser.parseAll(List.of(pools.split(","))), steps);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("annotation " + POOLS + ": " + e.getMessage(), e);
            }
        }

        private static Optional<StepModes> steps(Map<String, String> annotations) {
            if (!annotations.containsKey(DRAIN) || !annotations.containsKey(REPAIR)) {
                return Optional.empty();
            }
            return Optional.of(new StepModes(mode(annotations, DRAIN), mode(annotations, REPAIR)));
        }

        private static Optional<ActionMode> mode(Map<String, String> annotations, String name) {
            try {
                return StepModes.parse(text(annotations, name));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("annotation " + name + ": " + e.getMessage(), e);
            }
        }

        private static String text(Map<String, String> annotations, String name) {
            return Optional.ofNullable(annotations.get(name))
                    .orElseThrow(
                            () -> new IllegalArgumentException("expected the annotation " + name + ", there is none"));
        }
    }
}
