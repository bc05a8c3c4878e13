package dev.gpuwarden.aggregator.controller;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.LeaderElector;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.cli.run.Closer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The runtime of controllers while this replica leads and all of its informers have synced. Every replica follows the cluster,
 * so that any of them can take over without a list of its own. Thread-safe.
 */
public final class Manager implements AutoCloseable {

    /** The name of the Lease that the leader holds. */
    public static final String LEASE = "gpuwarden-aggregator";

    private final KubeClient api;
    private final Closer parts = new Closer();
    private final List<LeaderListener> listeners = new ArrayList<>();
    private final Set<String> unsynced = new TreeSet<>();
    private final Map<String, ResourceInformer> informers = new ConcurrentHashMap<>();
    private boolean leads;
    private boolean running;

    public Manager(KubeClient api) {
        this.api = api;
    }

    /** Keeps a part, which {@link #close} closes. Parts are closed in the reverse of the order in which they came. */
    public <T extends AutoCloseable> T keep(T part) {
        return parts.add(part);
    }

    /**
     * Returns a new work queue. Once it has its reconciler ({@link WorkQueue#run}), it takes names while this manager runs.
     *
     * @param what the kind of the names, for the log
     */
    public WorkQueue queue(String what, int workers) {
        return new WorkQueue(what, workers, queue -> onLeading(keep(queue)));
    }

    /** Follows all objects of a kind from now on. No controller runs before the listener has received them once. */
    public ResourceInformer watch(ResourceKind kind, ResourceInformer.Listener listener) {
        synchronized (this) {
            unsynced.add(kind.plural());
        }
        ResourceInformer informer = keep(api.informer(kind, listener, () -> synced(kind)));
        informers.put(kind.plural(), informer);
        return informer;
    }

    /** Returns whether a kind is followed. */
    public boolean isFollowed(ResourceKind kind) {
        return informers.containsKey(kind.plural());
    }

    /** Returns whether a kind is followed and its watch works now. */
    public boolean isWatching(ResourceKind kind) {
        ResourceInformer informer = informers.get(kind.plural());
        return informer != null && informer.watching();
    }

    /** Registers a listener. Listeners begin in the order in which they came, and end in the reverse order. */
    public synchronized void onLeading(LeaderListener listener) {
        listeners.add(listener);
        if (running) {
            listener.begin();
        }
    }

    /**
     * Seeks the Lease {@link #LEASE} from now on. Does not block.
     *
     * @param identity the name of this replica; each replica has its own
     */
    public void start(String namespace, String identity, LeaderElector.Times times) {
        keep(api.seekLeadership(namespace, LEASE, identity, times, this::beginLeading, this::endLeading));
    }

    private synchronized void synced(ResourceKind kind) {
        if (unsynced.remove(kind.plural())) {
            begin();
        }
    }

    private synchronized void beginLeading() {
        leads = true;
        begin();
    }

    /**
     * Begins when all informers have synced. With half of the nodes known, the breaker would count wrong, and without rules
     * every faulty node would stay.
     */
    private synchronized void begin() {
        if (leads && !running && unsynced.isEmpty()) {
            running = true;
            listeners.forEach(LeaderListener::begin);
        }
    }

    private synchronized void endLeading() {
        leads = false;
        running = false;
        for (int i = listeners.size() - 1; i >= 0; i--) {
            listeners.get(i).end();
        }
    }

    /** Returns the plurals of the kinds whose informers have not synced yet. */
    public synchronized Set<String> waitingFor() {
        return new TreeSet<>(unsynced);
    }

    /** Returns whether controllers run on this replica. */
    public synchronized boolean isRunning() {
        return running;
    }

    /** Stops acting, then lets another replica lead. */
    @Override
    public void close() {
        endLeading();
        parts.close();
    }
}
