package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.FaultChange;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.FaultTable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The messages about faults that watchers receive. All current faults are converted once for each list that the store
 * publishes, not for each watcher and event: reporters can raise thousands of faults and send hundreds of events in a
 * second. For one thread.
 */
final class FaultMessages {

    private final Supplier<List<Fault>> current;
    private List<Fault> listed = List.of();
    private Map<FaultKey, Fault> byKey = Map.of();
    private @Nullable FaultList all;

    /**
     * Creates messages from the current faults.
     *
     * @param current returns the same list object while no fault has changed
     */
    FaultMessages(Supplier<List<Fault>> current) {
        this.current = current;
    }

    /** Returns all faults that fit into one message. */
    FaultList all() {
        refresh();
        FaultList there = all;
        if (there == null) {
            there = FaultList.of(listed);
            all = there;
        }
        return there;
    }

    /** Returns the message for a change. It leaves out a fault that is over by now: the event that ended it follows. */
    FaultChange change(FaultTable.Change change) {
        FaultChange.Builder wire = FaultChange.newBuilder().setEffect(FaultCodec.toWire(change.effect()));
        if (change.effect() == FaultTable.Effect.CLEARED) {
            change.keys().forEach(key -> wire.addCleared(FaultCodec.toWire(key)));
        } else {
            refresh();
            List<Fault> changed = change.keys().stream()
                    .map(byKey::get)
                    .filter(Objects::nonNull)
                    .toList();
            FaultList.of(changed).faults().forEach(wire::addFaults);
        }
        return wire.build();
    }

    private void refresh() {
        List<Fault> now = current.get();
        if (now != listed) {
            Map<FaultKey, Fault> index = new HashMap<>(2 * now.size());
            now.forEach(fault -> index.put(fault.key(), fault));
            listed = now;
            byKey = index;
            all = null;
        }
    }
}
