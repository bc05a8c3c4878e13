package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.BreakerState;
import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.cluster.Kind;
import dev.gpuwarden.aggregator.cluster.Mirror;
import dev.gpuwarden.aggregator.json.JsonText;
import dev.gpuwarden.aggregator.json.Trees;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** A ConfigMap that keeps what the breaker must remember, and where people close it. Thread-safe. */
public final class BreakerStore {

    public static final String NAME = "gpuwarden-breaker";

    private static final System.Logger LOG = System.getLogger(BreakerStore.class.getName());

    private record Kept(String resourceVersion, Map<String, String> data) {}

    private final Kind kind;
    private final ClusterApi api;
    private final BreakerGate gate;
    private final Clock clock;
    private final Runnable changed;
    private Optional<Kept> kept = Optional.empty();

    /** @param changed told when somebody has changed it, so that nodes that were refused may ask again */
    public BreakerStore(String namespace, ClusterApi api, BreakerGate gate, Clock clock, Runnable changed) {
        this.kind = kind(namespace);
        this.api = api;
        this.gate = gate;
        this.clock = clock;
        this.changed = changed;
    }

    /** Where it lies. */
    public static Kind kind(String namespace) {
        return new Kind("", "v1", "configmaps", "ConfigMap", Optional.of(namespace), Optional.of(NAME));
    }

    public Kind kind() {
        return kind;
    }

    /** What follows it. */
    public Mirror.Listener listener() {
        return new Mirror.Listener() {
            @Override
            public void there(String name, String json) {
                try {
                    seen(JsonText.readObject(json));
                } catch (IOException e) {
                    LOG.log(Level.WARNING, "ConfigMap " + name + " is not understood: " + e.getMessage());
                }
            }

            @Override
            public void gone(String name) {
                synchronized (BreakerStore.this) {
                    kept = Optional.empty();
                }
                changed.run();
            }

            @Override
            public void complete() {}
        };
    }

    private void seen(Map<String, Object> tree) {
        Map<String, String> data = Trees.texts(tree, "data");
        synchronized (this) {
            kept = Optional.of(new Kept(Trees.text(Trees.object(tree, "metadata"), "resourceVersion"), data));
            gate.kept(BreakerState.of(data, clock.instant()));
        }
        changed.run();
    }

    /**
     * Writes what the breaker remembers, if something else is there. Blocks until it is kept.
     *
     * @throws ClusterException also where somebody has changed it meanwhile, which comes here by itself
     */
    public void save() throws ClusterException, InterruptedException {
        Optional<Kept> before;
        Map<String, String> data;
        synchronized (this) {
            before = kept;
            data = gate.state().toData();
        }
        if (data.equals(before.map(Kept::data).orElse(Map.of()))) {
            return;
        }
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("name", NAME);
        before.ifPresent(there -> metadata.put("resourceVersion", there.resourceVersion()));
        Map<String, Object> body = Map.of("apiVersion", "v1", "kind", "ConfigMap", "metadata", metadata, "data", data);
        Map<String, Object> answer =
                before.isPresent() ? api.replace(kind.path(NAME), body) : api.create(kind.path(), body);
        synchronized (this) {
            kept = Optional.of(new Kept(Trees.text(Trees.object(answer, "metadata"), "resourceVersion"), data));
        }
    }
}
