package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.nodehealth.SignalAnswer;
import dev.gpuwarden.aggregator.nodehealth.SignalRequest;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests;
import dev.gpuwarden.api.v1.Signalled;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Hands requests for signals that stand in `NodeHealth`s to the nodes that report here, and writes their answers there. */
final class Signals {

    private final SignalRequests signals;
    private final IngestMetrics tally;
    private final Clock clock;
    private final Function<String, Optional<NodeStream>> streams;
    private final Errands errands;

    Signals(
            SignalRequests signals,
            NodeHealthCache memory,
            IngestMetrics tally,
            Clock clock,
            Function<String, Optional<NodeStream>> streams,
            Errands errands) {
        this.signals = signals;
        this.tally = tally;
        this.clock = clock;
        this.streams = streams;
        this.errands = errands;
        memory.follow(this::open);
    }

    /** As for lookups. */
    void open(String node, Map<String, Object> health) {
        List<SignalRequest> open = SignalRequest.open(health);
        if (!open.isEmpty()) {
            errands.soon(() -> open.forEach(request -> ask(node, request)));
        }
    }

    private void ask(String node, SignalRequest request) {
        Optional<NodeStream> stream = streams.apply(node);
        if (stream.isEmpty()) {
            return;
        }
        switch (stream.get().signal(request)) {
            case NOT_NOW -> {}
            case ASKED -> tally.looked("signal_asked");
            case CANNOT -> {
                tally.looked("unsupported");
                write(node, request, 0, "gpuwarden on the node is of a version that sends no signals");
            }
        }
    }

    /** What a node has answered. Never waits. */
    void heard(NodeStream stream, String node, Signalled said) {
        Optional<SignalRequest> request = stream.signalled(said.getId());
        if (request.isEmpty()) {
            tally.looked("unasked");
            return;
        }
        tally.looked(said.getError().isEmpty() ? "signal_sent" : "signal_failed");
        write(node, request.get(), said.getProcesses(), said.getError());
    }

    private void write(String node, SignalRequest request, int processes, String error) {
        Map<String, Object> tree = SignalAnswer.tree(request.id(), processes, error, clock.instant());
        errands.write("a signal for a pod of " + node, () -> signals.answer(node, request, tree));
    }
}
