package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoRoom;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoSuchNode;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.Superseded;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import dev.gpuwarden.aggregator.nodehealth.StatusFieldWriter.WriteLocks;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.FieldReader;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The client for the resources `NodeHealth`, one for each node and with its name. The Node owns its NodeHealth, which is
 * deleted with it. Each call sends a request to the API server and blocks until the answer arrives. Thread-safe.
 */
// A held lock is only closed.
@SuppressWarnings("try")
public final class NodeHealthClient {

    public static final ResourceKind ALL =
            ResourceKind.ofCluster("gpuwarden.dev", "v1alpha1", "nodehealths", "NodeHealth");

    static final String MANAGER = "gpuwarden-aggregator";
    /** Each monitor is its own field manager, so that an apply of its place leaves the others'. */
    private static final String MONITOR = "gpuwarden-monitor:";

    /** The path that reads any one of them. */
    public static final String ONE = ALL.path() + "?limit=1";

    /** Tries of one write. Each further one follows a change by another writer; no writer makes so many in a row. */
    private static final int MOST_TRIES = 3;

    private final KubeClient api;
    private final NodeHealthCache memory;

    public NodeHealthClient(KubeClient api) {
        this(api, NodeHealthCache.NONE);
    }

    public NodeHealthClient(KubeClient api, NodeHealthCache memory) {
        this.api = api;
        this.memory = memory;
    }

    /** Like {@link #read}, but without a request for objects in the cache, which may be some moments old. */
    public StoredHealth greet(String node) throws ApiException, NoSuchNode, InterruptedException {
        Optional<String> uid = memory.nodeUid(node);
        if (uid.isEmpty()) {
            return read(node);
        }
        Optional<StoredHealth> there = memory.health(node).map(StoredHealth::of);
        if (there.isEmpty()) {
            return make(node, uid.get());
        }
        return there.get().nodeUid().equals(uid.get()) ? there.get() : read(node);
    }

    /** Returns the stored health of a node. Creates the resource if it is missing or has no owner. */
    public StoredHealth read(String node) throws ApiException, NoSuchNode, InterruptedException {
        Optional<StoredHealth> there = api.find(ALL.path(node)).map(StoredHealth::of);
        return there.isPresent() && !there.get().nodeUid().isEmpty() ? there.get() : make(node);
    }

    /**
     * Writes the state of a node. When this returns, the state is stored, and nothing newer is overwritten. One request, unless
     * another writer has changed the resource.
     *
     * @param seen last content of the cluster that this program has read
     * @return the present content of the cluster
     */
    public StoredHealth write(ReportedState state, StoredHealth seen)
            throws ApiException, NoSuchNode, Superseded, InterruptedException {
        try (WriteLocks.Turn turn = WriteLocks.take(state.node())) {
            StoredHealth there = known(state, seen);
            for (int tries = 1; ; tries++) {
                try {
                    return apply(state, there.version());
                } catch (ApiException e) {
                    if (tries == MOST_TRIES || !e.notFound() && !e.conflict()) {
                        throw e;
                    }
                }
                there = read(state.node());
                Optional<Superseded> old = there.supersedes(state.claim(), seen.nodeUid());
                if (old.isPresent()) {
                    throw old.get();
                }
            }
        }
    }

    /** Returns the newest version that the informer has seen. The API server refuses a write over an older one. */
    private StoredHealth known(ReportedState state, StoredHealth seen) {
        if (memory.healthVersion(state.node()).filter(seen.version()::equals).isPresent()) {
            return seen;
        }
        return memory.health(state.node())
                .map(StoredHealth::of)
                .filter(there -> there.supersedes(state.claim(), seen.nodeUid()).isEmpty())
                .orElse(seen);
    }

    /**
     * Adds to the faults that a monitor of the whole cluster has reported for a node. When this returns, they are stored.
     *
     * @param monitor name of the monitor
     * @param events events of that node, in order
     */
    public void report(String node, String monitor, List<HealthEvent> events, Instant now)
            throws ApiException, NoSuchNode, NoRoom, UnreadableNodeHealth, InterruptedException {
        try (WriteLocks.Turn turn = WriteLocks.take(node)) {
            for (int tries = 1; ; tries++) {
                Map<String, Object> there = api.find(ALL.path(node)).orElse(Map.of());
                Optional<Map<String, Object>> place = after(there, node, monitor, events, now);
                if (place.isEmpty()) {
                    return;
                }
                String version = there.isEmpty()
                        ? make(node).version()
                        : StoredHealth.of(there).version();
                try {
                    var unused = applyPlace(node, monitor, version, place.get());
                    return;
                } catch (ApiException e) {
                    if (tries == MOST_TRIES || !e.notFound() && !e.conflict()) {
                        throw e;
                    }
                }
            }
        }
    }

    /**
     * Changes a monitor's faults of a node to the required ones. When this returns, they are stored. Reads the cache first: one
     * request if no other writer has changed the resource, and none if there is nothing to change.
     *
     * @param monitor name of the monitor
     * @param change function from the present faults of the monitor to the required ones; called again after another writer's
     *     change
     * @return true if it was written
     */
    public boolean settle(String node, String monitor, UnaryOperator<List<Fault>> change, Instant now)
            throws ApiException, NoSuchNode, UnreadableNodeHealth, InterruptedException {
        try (WriteLocks.Turn turn = WriteLocks.take(node)) {
            Optional<Map<String, Object>> known = memory.health(node);
            for (int tries = 1; ; tries++) {
                Map<String, Object> there = known.isPresent()
                        ? known.get()
                        : api.find(ALL.path(node)).orElse(Map.of());
                known = Optional.empty();
                List<Fault> reported = reported(there, node, monitor);
                Optional<Map<String, Object>> place =
                        MonitorFaults.exactly(monitor, reported, change.apply(reported), now);
                if (place.isEmpty()) {
                    return false;
                }
                StoredHealth held = StoredHealth.of(there);
                String version = held.nodeUid().isEmpty() ? make(node).version() : held.version();
                try {
                    memory.answered(applyPlace(node, monitor, version, place.get()));
                    return true;
                } catch (ApiException e) {
                    if (tries > MOST_TRIES || !e.notFound() && !e.conflict()) {
                        throw e;
                    }
                }
            }
        }
    }

    /** Returns the faults that a monitor has reported for the node of this resource. */
    public static List<Fault> reported(Map<String, Object> health, String node, String monitor)
            throws UnreadableNodeHealth {
        try {
            return MonitorFaults.reported(status(node, health), node, monitor);
        } catch (IOException e) {
            throw new UnreadableNodeHealth(e);
        }
    }

    private static Optional<Map<String, Object>> after(
            Map<String, Object> health, String node, String monitor, List<HealthEvent> events, Instant now)
            throws NoRoom, UnreadableNodeHealth {
        try {
            return MonitorFaults.after(status(node, health), node, monitor, events, now);
        } catch (IOException e) {
            throw new UnreadableNodeHealth(e);
        }
    }

    private static Optional<FieldReader> status(String node, Map<String, Object> health) throws IOException {
        return new FieldReader("NodeHealth " + node + ": ", health).object("status");
    }

    /** Writes the part of the status that belongs to this manager, over this version of the resource. */
    static Map<String, Object> applyStatus(
            KubeClient api, String node, String version, String manager, Map<String, Object> status)
            throws ApiException, InterruptedException {
        Map<String, Object> metadata = Map.of("name", node, "resourceVersion", version);
        return api.apply(
                ALL.path(node) + "/status", manager, body(node, Map.of("metadata", metadata, "status", status)));
    }

    private Map<String, Object> applyPlace(String node, String monitor, String version, Map<String, Object> place)
            throws ApiException, InterruptedException {
        return applyStatus(api, node, version, MONITOR + monitor, MonitorFaults.status(place));
    }

    private StoredHealth apply(ReportedState state, String version) throws ApiException, InterruptedException {
        Map<String, Object> now = applyStatus(api, state.node(), version, MANAGER, NodeHealthStatus.tree(state));
        memory.answered(now);
        return StoredHealth.of(now);
    }

    private StoredHealth make(String node) throws ApiException, NoSuchNode, InterruptedException {
        Map<String, Object> owner = api.find("/api/v1/nodes/" + node).orElseThrow(() -> new NoSuchNode(node));
        return make(node, JsonTrees.text(JsonTrees.object(owner, "metadata"), "uid"));
    }

    private StoredHealth make(String node, String uid) throws ApiException, InterruptedException {
        Map<String, Object> reference = Map.of("apiVersion", "v1", "kind", "Node", "name", node, "uid", uid);
        return StoredHealth.of(api.apply(
                ALL.path(node),
                MANAGER,
                body(node, Map.of("metadata", Map.of("name", node, "ownerReferences", List.of(reference))))));
    }

    private static Map<String, Object> body(String node, Map<String, Object> more) {
        Map<String, Object> body = new java.util.LinkedHashMap<>();
        body.put("apiVersion", ALL.apiVersion());
        body.put("kind", ALL.kind());
        body.put("metadata", Map.of("name", node));
        body.putAll(more);
        return body;
    }
}
