package dev.gpuwarden.aggregator.monitor;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.Mirror;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Follows the objects of one type for some policies, whether the type is there yet or not, and whether this program has the right
 * to or not: where it cannot, it says why and tries again. All but the questions about it is for one thread.
 */
final class KindFollower implements AutoCloseable {

    /** So often in a row the API server must have said that there is no such type before its objects are taken to be gone. */
    private static final int SURE = 2;

    private final ClusterApi api;
    private final ResourceType type;
    private final List<PolicyRun> policies;
    private final MatchBook book;
    private final KindWatch watch;
    private final Duration brokenWatch;
    private volatile @Nullable Mirror mirror;
    private int absent;
    private long brokenSince;
    private volatile Optional<Trouble> trouble = Optional.empty();
    private volatile boolean watching;

    /** @param brokenWatch for how long a watch that has broken is no trouble */
    KindFollower(
            ClusterApi api,
            ResourceType type,
            List<PolicyRun> policies,
            MatchBook book,
            KindWatch watch,
            Duration brokenWatch) {
        this.api = api;
        this.type = type;
        this.policies = List.copyOf(policies);
        this.book = book;
        this.watch = watch;
        this.brokenWatch = brokenWatch;
    }

    List<PolicyRun> policies() {
        return policies;
    }

    /**
     * Looks how it is, and does what there is to do.
     *
     * @param ask whether the API server may be asked, which blocks
     */
    void tend(boolean ask) throws InterruptedException {
        Mirror open = mirror;
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
        Mirror open = mirror;
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
        Mirror open = mirror;
        if (open != null) {
            open.close();
            mirror = null;
        }
    }
}
