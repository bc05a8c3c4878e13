package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.Outbox.Lag;
import dev.gpuwarden.core.node.KnownGpus;
import java.util.List;
import java.util.Map;

/** The store's state as of the last commit, in memory; {@code acknowledged} has the last event of each receiver. */
record CommittedState(
        List<Fault> faults,
        Map<String, Position> positions,
        Map<String, Long> acknowledged,
        Map<String, Lag> lags,
        long lastSequence,
        long events,
        LeftOut leftOut,
        KnownGpus gpus) {

    static final CommittedState EMPTY =
            new CommittedState(List.of(), Map.of(), Map.of(), Map.of(), 0, 0, LeftOut.NONE, KnownGpus.NONE);

    static CommittedState of(Session session) {
        return new CommittedState(
                session.faults(),
                Map.copyOf(session.positions()),
                session.outbox().acknowledged(),
                session.outbox().lags(),
                session.lastSequence(),
                session.count(),
                session.leftOut(),
                session.gpus());
    }
}
