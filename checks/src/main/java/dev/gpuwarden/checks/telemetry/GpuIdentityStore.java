package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.node.NodeSnapshot;
import java.util.List;
import java.util.function.Consumer;

/** The identities of the node's GPUs across restarts of the daemon. Thread-safe. */
public final class GpuIdentityStore {

    private final Consumer<KnownGpus> keep;
    private volatile KnownGpus known;

    /**
     * @param known identities from before the start
     * @param keep receives all of them whenever one changes; must not block
     */
    public GpuIdentityStore(KnownGpus known, Consumer<KnownGpus> keep) {
        this.known = known;
        this.keep = keep;
    }

    /** Adds what the GPUs of this snapshot report of themselves, and returns all known identities. */
    KnownGpus learn(NodeSnapshot reported) {
        KnownGpus before = known;
        return before.with(reported) == before ? before : change(reported);
    }

    /** All that were known last. */
    List<GpuIdentity> identities() {
        return known.identities();
    }

    private synchronized KnownGpus change(NodeSnapshot reported) {
        KnownGpus now = known.with(reported);
        if (now != known) {
            known = now;
            keep.accept(now);
        }
        return now;
    }
}
