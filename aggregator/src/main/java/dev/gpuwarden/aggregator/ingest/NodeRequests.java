package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson;
import dev.gpuwarden.aggregator.nodehealth.LookupRequest;
import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Hands questions that stand in `NodeHealth`s to the nodes that report here, and writes their answers there. Who holds a node's
 * stream does it, whoever has asked.
 */
final class NodeRequests {

    private final GpuHolderRequests lookups;
    private final IngestMetrics tally;
    private final Clock clock;
    private final Function<String, Optional<NodeStream>> streams;
    private final Errands errands;

    /**
     * @param memory what follows the NodeHealths; where nobody does, nobody asks either
     * @param streams a node's, if it reports here
     */
    NodeRequests(
            GpuHolderRequests lookups,
            NodeHealthCache memory,
            IngestMetrics tally,
            Clock clock,
            Function<String, Optional<NodeStream>> streams,
            Errands errands) {
        this.lookups = lookups;
        this.tally = tally;
        this.clock = clock;
        this.streams = streams;
        this.errands = errands;
        memory.follow(this::open);
    }

    /** A `NodeHealth` is new or another one, or its node has a stream here by now. Never waits. */
    void open(String node, Map<String, Object> health) {
        LookupRequest.open(health).ifPresent(request -> errands.soon(() -> ask(node, request.id())));
    }

    private void ask(String node, String id) {
        Optional<NodeStream> stream = streams.apply(node);
        if (stream.isEmpty()) {
            return;
        }
        switch (stream.get().lookUp(id)) {
            case NOT_NOW -> {}
            case ASKED -> tally.looked("asked");
            case CANNOT -> {
                tally.looked("unsupported");
                write(
                        node,
                        id,
                        Reading.absent(
                                Absence.NOT_SUPPORTED,
                                0,
                                "gpuwarden on the node is of a version that does not tell who holds its GPUs"));
            }
        }
    }

    /** What a node has answered. Never waits. */
    void heard(NodeStream stream, String node, Holdings said) {
        if (!stream.answered(said.getId())) {
            // To nothing that was asked here last.
            tally.looked("unasked");
            return;
        }
        Reading<GpuHolders> holders = HoldingsCodec.parse(said);
        tally.looked(holders instanceof Reading.Present<?> ? "answered" : "failed");
        write(node, said.getId(), holders);
    }

    private void write(String node, String id, Reading<GpuHolders> said) {
        Map<String, Object> tree = GpuHoldersJson.of(id, said, clock.instant());
        errands.write("who holds the GPUs of " + node, () -> lookups.answer(node, id, tree));
    }
}
