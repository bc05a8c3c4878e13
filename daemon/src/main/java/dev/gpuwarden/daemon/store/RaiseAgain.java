package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Raises faults from the history that found no room before. Nobody handed them in, so they are not counted as taken again. */
final class RaiseAgain extends AppendRequest {

    private final List<EventChange> told = new ArrayList<>();

    RaiseAgain() {
        super(List.of(), Optional.empty());
    }

    @Override
    List<Receipt> write(Session session, Instant now) throws SQLException {
        told.clear();
        session.raiseAgain(now).forEach(filed -> filed.told().ifPresent(told::add));
        return List.of();
    }

    @Override
    List<EventChange> told() {
        return told;
    }
}
