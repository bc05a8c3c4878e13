package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Follows the objects of one type for some policies, whether the type is there yet or not, and whether this program has the right
 * to or not: where it cannot, it says why and tries again. All but the questions about it is for one thread.
 */
final class KindInformer implements AutoCloseable {

    /** So often in a row the API server must have said that there is no such type before its objects are taken to be gone. */
    private static final int SURE = 2;

    private final KubeClient api;
    private final ResourceType type;
    private final List<PolicyStats> policies;
    private final MatchIndex book;
    private final PolicyEvaluator watch;
    private final Duration brokenWatch;
    private volatile @Nullable ResourceInformer mirror;
    private int absent;
    private long brokenSince;
    private volatile Optional<Trouble> trouble = Optional.empty();
    private volatile boolean watching;

    /** @param brokenWatch for how long a watch that has broken is no trouble */
    KindInformer(
            KubeClient api,
            ResourceType type,
            List<PolicyStats> policies,
            MatchIndex book,
            PolicyEvaluator watch,
            Duration brokenWatch) {
        this.api = api;
        this.type = type;
        this.policies = List.copyOf(policies);
        this.book = book;
        this.watch = watch;
        this.brokenWatch = brokenWatch;
    }

    List<PolicyStats> policies() {
        return policies;
    }

    /**
     * Looks how it is, and does what there is to do.
     *
     * @param ask whether the API server may be asked, which blocks
     */
    void tend(boolean ask) throws InterruptedException {
        ResourceInformer open = mirror;
        if (open == null) {
            if (ask) {
                search();
            }
            return;
        }
        watching = open.watching();
        if (watching) {
            brokenSince = 0;
            trouble = Optional.empty();
            return;
        }
        if (brokenSince == 0) {
            brokenSince = System.nanoTime();
        }
        if (!ask || System.nanoTime() - brokenSince < brokenWatch.toNanos()) {
            return;
        }
        Discovery found = Discovery.look(api, type);
        trouble = found.trouble();
        if (found.absent()) {
            // What follows them would find nothing for ever, or another type that has the name by then.
            open.close();
            mirror = null;
            brokenSince = 0;
            missing();
        }
    }

    private void search() throws InterruptedException {
        Discovery found = Discovery.look(api, type);
        trouble = found.trouble();
        if (found.absent()) {
            missing();
        } else if (found.kind().isPresent()) {
            absent = 0;
            mirror = api.mirror(found.kind().get(), watch);
        }
    }

    private void missing() {
        watching = false;
        if (++absent >= SURE) {
            policies.forEach(run -> book.removeIf(run.name(), any -> true));
        }
    }

    StatusOf.Standing standing() {
        return new StatusOf.Standing(trouble, mirror != null && watch.isComplete(), objects());
    }

    boolean watching() {
        return watching;
    }

    int objects() {
        ResourceInformer open = mirror;
        return open == null ? 0 : open.size();
    }

    int timed() {
        return watch.timed();
    }

    void resync() {
        watch.resync();
    }

    @Override
    public void close() {
        watch.close();
        ResourceInformer open = mirror;
        if (open != null) {
            open.close();
            mirror = null;
        }
    }
}
