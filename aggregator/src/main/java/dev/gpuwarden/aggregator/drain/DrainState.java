package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.pods.PodEviction;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.core.limit.Backoff;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The state of one drain in memory, while it is under way: the pods, and the requests for them. Thread-safe. */
final class DrainState implements ResourceInformer.Listener {

    /** The number of retries of a signal request, within a minute, after which a pod is evicted without a signal. */
    private static final int MOST_SIGNAL_TRIES = 4;

    private final Runnable changed;
    private final Duration retry;
    private final Map<String, PodView> pods = new HashMap<>();
    private final Map<String, Refusal> refusals = new HashMap<>();
    /** Reason why a pod cannot get its signal, by UID. */
    private final Map<String, String> unsent = new HashMap<>();

    private final Set<String> asking = new HashSet<>();
    /** UIDs of pods whose end the API server has accepted, and the watch may not have reported yet. */
    private final Set<String> asked = new HashSet<>();

    private boolean complete;
    private boolean closed;
    private boolean stuck;
    private boolean begun;
    private boolean over;
    private boolean outrun;
    private String lastDecision = "";
    private long endNanos = System.nanoTime();
    private Instant written = Instant.MIN;

    /**
     * @param changed called when the node must be reconciled
     * @param retry pause after the first refusal of a pod
     */
    DrainState(Runnable changed, Duration retry) {
        this.changed = changed;
        this.retry = retry;
    }

    // ---- its pods ----

    @Override
    public void onUpsert(String path, Map<String, Object> tree) {
        PodView pod = PodView.of(tree);
        boolean news;
        synchronized (this) {
            // A pod of a StatefulSet has the name of its predecessor, whose deletion the watch may have missed.
            forget(path, pod.uid());
            PodView before = pods.put(pod.uid(), pod);
            if (pod.ended() && (before == null || !before.ended())) {
                endNanos = System.nanoTime();
            }
            news = complete && !pod.equals(before);
        }
        if (news) {
            changed.run();
        }
    }

    @Override
    public void onDelete(String path) {
        synchronized (this) {
            forget(path, "");
        }
        changed.run();
    }

    /** Removes the pods of this path, except the one with the given UID. */
    private void forget(String path, String stays) {
        List<PodView> gone = pods.values().stream()
                .filter(pod -> pod.path().equals(path) && !pod.uid().equals(stays))
                .toList();
        for (PodView pod : gone) {
            pods.remove(pod.uid());
            refusals.remove(pod.uid());
            unsent.remove(pod.uid());
            asked.remove(pod.uid());
            if (!pod.ended()) {
                endNanos = System.nanoTime();
            }
        }
    }

    @Override
    public void onSynced() {
        synchronized (this) {
            complete = true;
        }
        changed.run();
    }

    synchronized boolean isComplete() {
        return complete;
    }

    synchronized Collection<PodView> pods() {
        return List.copyOf(pods.values());
    }

    synchronized long endNanos() {
        return endNanos;
    }

    // ---- what was tried ----

    synchronized Map<String, Refusal> refusals() {
        return Map.copyOf(refusals);
    }

    /**
     * Takes over the refusals that the previous leader wrote on the Node, with their start times. Only the first call has an
     * effect.
     */
    synchronized void before(DrainAnnotation record) {
        if (begun) {
            return;
        }
        begun = true;
        for (PodView pod : pods.values()) {
            record.waiting().stream()
                    .filter(was -> was.pod().equals(pod.path()) && was.step().equals("evict"))
                    .findFirst()
                    .ifPresent(was -> refusals.putIfAbsent(pod.uid(), Refusal.before(was.since(), was.why())));
        }
    }

    /**
     * Returns the UIDs of the pods that have a request in flight. A decision must call this before it reads anything else. The
     * end of each request causes another decision.
     */
    synchronized Set<String> inFlight() {
        return Set.copyOf(asking);
    }

    /**
     * Returns the pods of the plan that need a request now. The caller must send it.
     *
     * @param inFlight result of {@link #inFlight} at the begin of the decision, which may not have read the results of these
     *     requests
     */
    synchronized List<PodPlan> take(List<PodPlan> due, Set<String> inFlight, int most, Instant now) {
        List<PodPlan> taken = new ArrayList<>();
        for (PodPlan plan : due) {
            String uid = plan.pod().uid();
            Refusal refused = refusals.get(uid);
            boolean waits = refused != null && refused.again().isAfter(now);
            if (!closed
                    && !waits
                    && !inFlight.contains(uid)
                    && !asked.contains(uid)
                    && asking.size() < most
                    && asking.add(uid)) {
                taken.add(plan);
            }
        }
        return taken;
    }

    synchronized void answered(String uid, PodEviction.Outcome outcome, Instant now) {
        asking.remove(uid);
        if (outcome instanceof PodEviction.Outcome.Refused refused) {
            Refusal before = refusals.getOrDefault(uid, Refusal.before(now, ""));
            refusals.put(uid, before.again(refused.why(), retry, refused.least(), now));
        } else if (pods.containsKey(uid)) {
            refusals.remove(uid);
            asked.add(uid);
        }
    }

    synchronized Map<String, String> unsent() {
        return Map.copyOf(unsent);
    }

    /** Notes that the signal of a pod was requested. */
    synchronized void requested(String uid) {
        asking.remove(uid);
        refusals.remove(uid);
    }

    /**
     * Notes that the signal of a pod could not be requested.
     *
     * @param never true if a retry cannot succeed; false to retry a limited number of times
     * @param least shortest pause that the API server requests
     */
    synchronized void unsent(String uid, String why, boolean never, Duration least, Instant now) {
        Refusal before = refusals.getOrDefault(uid, Refusal.before(now, ""));
        requested(uid);
        if (never || before.times() == MOST_SIGNAL_TRIES) {
            unsent.put(uid, why);
        } else {
            refusals.put(uid, before.again(why, retry, least, now));
        }
    }

    /** Notes that a request was abandoned for a reason that is not the pod's. */
    synchronized void givenUp(String uid) {
        asking.remove(uid);
    }

    // ---- what was written ----

    synchronized Instant written() {
        return written;
    }

    /**
     * Notes that another writer has changed the Node, and the watch has not delivered it yet. Returns true for the first call
     * since the last write of the Node.
     */
    synchronized boolean outrun() {
        boolean first = !outrun;
        outrun = true;
        return first;
    }

    /**
     * Returns true if the decision was not recorded since the last write of the Node. After a conflict the same decision is
     * made again.
     */
    synchronized boolean isNews(String decision) {
        boolean news = !decision.equals(lastDecision);
        lastDecision = decision;
        return news;
    }

    synchronized void written(Instant now) {
        lastDecision = "";
        outrun = false;
        written = now;
    }

    /** @param needsHelp true if the drain cannot go on without an operator */
    synchronized void stuck(boolean needsHelp) {
        stuck = needsHelp;
    }

    synchronized boolean isStuck() {
        return stuck;
    }

    /** @param isOver true if the drain has succeeded, and the node is followed only for pods that come */
    synchronized void over(boolean isOver) {
        over = isOver;
    }

    synchronized boolean isOver() {
        return over;
    }

    synchronized void close() {
        closed = true;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /**
     * The refusal of a pod's eviction or deletion, over all tries.
     *
     * @param times number of refusals
     * @param since time of the first refusal
     * @param again time of the next try
     */
    public record Refusal(int times, Instant since, String why, Instant again) {

        /** The longest pause, as a multiple of the first. */
        private static final int LONGEST = 6;

        /** Returns the refusal that the previous leader wrote on the Node. */
        static Refusal before(Instant since, String why) {
            return new Refusal(0, since, why, since);
        }

        /**
         * Returns the refusal after one more try.
         *
         * @param first first pause, which doubles with each refusal
         * @param least shortest pause that the API server requests
         */
        Refusal again(String reason, Duration first, Duration least, Instant now) {
            Duration pause = Backoff.exact(first, first.multipliedBy(LONGEST)).pause(times + 1);
            return new Refusal(times + 1, since, reason, now.plus(pause.compareTo(least) > 0 ? pause : least));
        }
    }
}
