package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Outbox;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.checkpoint.PodSignals;
import dev.gpuwarden.daemon.uplink.request.RequestKind;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The node that reports, and the registry of its requests to and from the aggregator.
 *
 * @param gpus the GPUs of the node, with their kept names where they report none now; must not block
 * @param requests each kind of request, in the order in which their messages are sent
 */
public record UplinkNode(
        String name,
        String bootId,
        String version,
        EventReader book,
        Outbox outbox,
        Clock clock,
        Supplier<List<GpuIdentity>> gpus,
        List<RequestKind> requests) {

    /**
     * Creates a node that also answers the aggregator's requests.
     *
     * @param holders reads the holders of the node's GPUs; may take seconds
     * @param signals sends signals to pods before their end; may block
     * @param further further kinds of requests
     */
    public UplinkNode(
            String name,
            String bootId,
            String version,
            EventReader book,
            Outbox outbox,
            Clock clock,
            Supplier<List<GpuIdentity>> gpus,
            Supplier<Reading<GpuHolders>> holders,
            SignalSender signals,
            RequestKind... further) {
        this(
                name,
                bootId,
                version,
                book,
                outbox,
                clock,
                gpus,
                Stream.concat(
                                Stream.of(further),
                                Stream.of(Responders.holders(holders, clock), Responders.signals(signals)))
                        .toList());
    }

    /** A sender of signals to pods. It may block, and is called by one thread at a time. */
    public interface SignalSender {

        /** @param id of the request: a second call with the same id sends nothing and returns the first answer */
        PodSignals.Answer send(String id, String podUid, String signal);
    }
}
