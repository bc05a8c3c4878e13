package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
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

/** What is known of one node that is being drained, for as long as it is: its pods, and what was tried. Thread-safe. */
final class DrainState implements ResourceInformer.Listener {

    /** After these, in a minute, it goes without having been told. */
    private static final int MOST_TELLINGS = 4;

    private final Runnable changed;
    private final Duration retry;
    private final Map<String, PodView> pods = new HashMap<>();
    private final Map<String, Refusal> refusals = new HashMap<>();
    /** Why these cannot be told of their end. */
    private final Map<String, String> untold = new HashMap<>();

    private final Set<String> asking = new HashSet<>();
    /** Those that the API server has promised to end, which the watch may not have told yet. */
    private final Set<String> asked = new HashSet<>();

    private boolean complete;
    private boolean closed;
    private boolean stuck;
    private boolean begun;
    private boolean over;
    private boolean outrun;
    private String said = "";
    private long endNanos = System.nanoTime();
    private Instant written = Instant.MIN;

    /**
     * @param changed told when the node is to be looked at
     * @param retry after a pod was refused first
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
            // A pod of a StatefulSet has the name of the one before, which may have gone unseen.
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

    /** What had this name is gone, unless it is still the same. */
    private void forget(String path, String stays) {
        List<PodView> gone = pods.values().stream()
                .filter(pod -> pod.path().equals(path) && !pod.uid().equals(stays))
                .toList();
        for (PodView pod : gone) {
            pods.remove(pod.uid());
            refusals.remove(pod.uid());
            untold.remove(pod.uid());
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

    /** What was written on the Node by whoever was here before: since when it is so. Only the first time. */
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

    /** Those of these that are to be asked for now, which the caller then does. */
    synchronized List<PodPlan> take(List<PodPlan> due, int most, Instant now) {
        List<PodPlan> taken = new ArrayList<>();
        for (PodPlan plan : due) {
            String uid = plan.pod().uid();
            Refusal refused = refusals.get(uid);
            boolean waits = refused != null && refused.again().isAfter(now);
            if (!closed && !waits && !asked.contains(uid) && asking.size() < most && asking.add(uid)) {
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

    synchronized Map<String, String> untold() {
        return Map.copyOf(untold);
    }

    /** It is told of its end: the next step is another one. */
    synchronized void told(String uid) {
        asking.remove(uid);
        refusals.remove(uid);
    }

    /**
     * It was not told of its end.
     *
     * @param never whether trying again would change nothing; else it is tried some times more
     * @param least what the API server wants to be left alone for
     */
    synchronized void untold(String uid, String why, boolean never, Duration least, Instant now) {
        Refusal before = refusals.getOrDefault(uid, Refusal.before(now, ""));
        told(uid);
        if (never || before.times() == MOST_TELLINGS) {
            untold.put(uid, why);
        } else {
            refusals.put(uid, before.again(why, retry, least, now));
        }
    }

    /** Nothing came of it, for no reason of the pod's. */
    synchronized void givenUp(String uid) {
        asking.remove(uid);
    }

    // ---- what was written ----

    synchronized Instant written() {
        return written;
    }

    /** Somebody else has written the Node, and the watch has not told it yet; returns whether that is so for the first time. */
    synchronized boolean outrun() {
        boolean first = !outrun;
        outrun = true;
        return first;
    }

    /** Whether this was not said since the Node was written last: who is outrun by others decides the same again. */
    synchronized boolean isNews(String decision) {
        boolean news = !decision.equals(said);
        said = decision;
        return news;
    }

    synchronized void written(Instant now) {
        said = "";
        outrun = false;
        written = now;
    }

    /** @param needsHelp whether nothing moves until a person does something */
    synchronized void stuck(boolean needsHelp) {
        stuck = needsHelp;
    }

    synchronized boolean isStuck() {
        return stuck;
    }

    /** @param isOver whether it has succeeded, and its node is followed only for pods that come */
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
     * That a pod could not be evicted or deleted, however often that was tried.
     *
     * @param since when it was refused first
     * @param again when it is tried next
     */
    public record Refusal(int times, Instant since, String why, Instant again) {

        /** The longest pause, in first ones. */
        private static final int LONGEST = 6;

        /** What was written on the Node by whoever was here before. */
        static Refusal before(Instant since, String why) {
            return new Refusal(0, since, why, since);
        }

        /**
         * @param first pause, twice as long after each further one
         * @param least what the API server wants to be left alone for
         */
        Refusal again(String reason, Duration first, Duration least, Instant now) {
            Duration pause = Backoff.exact(first, first.multipliedBy(LONGEST)).pause(times + 1);
            return new Refusal(times + 1, since, reason, now.plus(pause.compareTo(least) > 0 ? pause : least));
        }
    }
}
