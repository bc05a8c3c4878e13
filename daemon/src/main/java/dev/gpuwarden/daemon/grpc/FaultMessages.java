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
 * What watchers are told of faults. All current faults are looked through once for each list that the store publishes, and not for
 * each watcher and event: reporters can raise thousands of faults, and tell of hundreds in a second. For one thread.
 */
final class FaultMessages {

    private final Supplier<List<Fault>> current;
    private List<Fault> listed = List.of();
    private Map<FaultKey, Fault> byKey = Map.of();
    private @Nullable FaultList all;

    /** @param current the same list, and not only an equal one, as long as nothing has changed */
    FaultMessages(Supplier<List<Fault>> current) {
        this.current = current;
    }

    /** All faults, as far as one answer has room for them. */
    FaultList all() {
        look();
        FaultList there = all;
        if (there == null) {
            there = FaultList.of(listed);
            all = there;
        }
        return there;
    }

    /** A fault that is over by now is not told as one that was raised: the event that ended it comes. */
    FaultChange change(FaultTable.Change change) {
        FaultChange.Builder wire = FaultChange.newBuilder().setEffect(FaultCodec.toWire(change.effect()));
        if (change.effect() == FaultTable.Effect.CLEARED) {
            change.keys().forEach(key -> wire.addCleared(FaultCodec.toWire(key)));
        } else {
            look();
            List<Fault> changed = change.keys().stream()
                    .map(byKey::get)
                    .filter(Objects::nonNull)
                    .toList();
            FaultList.of(changed).faults().forEach(wire::addFaults);
        }
        return wire.build();
    }

    private void look() {
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
