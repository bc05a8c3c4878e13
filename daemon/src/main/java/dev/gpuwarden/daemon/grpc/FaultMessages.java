package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.FaultChange;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.FaultTable;
import java.util.ArrayList;
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

    /** @param current returns the same list object while no fault has changed */
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

    /** Faults in the wire format: fatal ones first, then the newest, as many as fit into gRPC's default message size. Pure. */
    record FaultList(List<dev.gpuwarden.api.v1.Fault> faults, int leftOut) {

        private static final int MAX_BYTES = 3 << 20;

        static FaultList of(List<Fault> faults) {
            List<dev.gpuwarden.api.v1.Fault> wire = new ArrayList<>(faults.size());
            int bytes = 0;
            for (Fault fault : faults.stream().sorted(Fault.FATAL_THEN_NEWEST).toList()) {
                dev.gpuwarden.api.v1.Fault one = FaultCodec.toWire(fault);
                bytes += one.getSerializedSize();
                if (bytes > MAX_BYTES) {
                    break;
                }
                wire.add(one);
            }
            return new FaultList(wire, faults.size() - wire.size());
        }

        /** Returns true if the fault meets every condition of the request. */
        static boolean asked(ListFaultsRequest request, Fault fault) {
            return any(request.getAgentsList(), fault.key().agent())
                    && any(request.getCheckNamesList(), fault.key().checkName())
                    && any(request.getErrorCodesList(), fault.key().errorCode())
                    && (request.getEntityValue().isEmpty()
                            || request.getEntityValue()
                                    .equals(fault.key().entity().value()))
                    && (!request.getFatalOnly() || fault.cause().fatal());
        }

        private static boolean any(List<String> wanted, String value) {
            return wanted.isEmpty() || wanted.contains(value);
        }
    }
}
