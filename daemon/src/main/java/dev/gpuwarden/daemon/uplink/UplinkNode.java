package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.checkpoint.PodSignals;
import dev.gpuwarden.daemon.vram.kube.VramRequests;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;

/**
 * The node that reports, and the parts of the daemon that answer the aggregator's requests.
 *
 * @param gpus the GPUs of the node, with their kept names where they report none now; must not block
 * @param holders reads the holders of the node's GPUs; may take seconds
 * @param signals sends signals to pods before their end; may block
 * @param access the page's token reviews
 * @param vram the VRAM budgets of this node's pods
 */
public record UplinkNode(
        String name,
        String bootId,
        String version,
        EventReader book,
        Outbox outbox,
        Clock clock,
        Supplier<List<GpuIdentity>> gpus,
        Supplier<Reading<GpuHolders>> holders,
        SignalSender signals,
        TokenReviewRequests access,
        VramRequests vram) {

    /** A sender of signals to pods. It may block, and is called by one thread at a time. */
    public interface SignalSender {

        /** @param id of the request: a second call with the same id sends nothing and returns the first answer */
        PodSignals.Answer send(String id, String podUid, String signal);
    }
}
