package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;

/**
 * Who reports, of what, and what is asked.
 *
 * @param gpus the node's, with the names that they had before where they report none now; must not block
 * @param holders looks who holds the node's GPUs; may take seconds
 * @param signals tells pods that their end is near; may take a while
 * @param access what the page asks of the aggregator
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
        TokenReviewRequests access) {}
