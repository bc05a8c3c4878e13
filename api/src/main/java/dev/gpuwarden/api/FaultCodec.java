package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.FaultChange;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;

/** The codec of faults and stored events between core and the wire. */
public final class FaultCodec {

    private static final EnumCodec<FaultTable.Effect, FaultChange.Effect> EFFECTS =
            EnumCodec.of(FaultTable.Effect.class, FaultChange.Effect.class, "");

    private FaultCodec() {}

    public static dev.gpuwarden.api.v1.Fault toWire(Fault fault) {
        return dev.gpuwarden.api.v1.Fault.newBuilder()
                .setKey(toWire(fault.key()))
                .setCause(HealthEventCodec.toWire(fault.cause()))
                .setSequence(fault.sequence())
                .setSince(Timestamps.toWire(fault.since()))
                .setLastSeen(Timestamps.toWire(fault.lastSeen()))
                .setOccurrences(fault.occurrences())
                .build();
    }

    /** @throws java.time.DateTimeException where a time is outside of what the format allows */
    public static Fault fromWire(dev.gpuwarden.api.v1.Fault wire) {
        Instant since = Timestamps.fromWire(wire.getSince());
        return new Fault(
                fromWire(wire.getKey()),
                HealthEventCodec.fromWire(wire.getCause(), since),
                wire.getSequence(),
                since,
                Timestamps.fromWire(wire.getLastSeen()),
                wire.getOccurrences());
    }

    public static dev.gpuwarden.api.v1.FaultKey toWire(FaultKey key) {
        dev.gpuwarden.api.v1.FaultKey.Builder wire = dev.gpuwarden.api.v1.FaultKey.newBuilder()
                .setAgent(key.agent())
                .setComponentClass(key.componentClass())
                .setCheckName(key.checkName())
                .setNodeName(key.nodeName())
                .setErrorCode(key.errorCode())
                .setReporter(key.reporter());
        if (!key.entity().equals(Entity.WHOLE)) {
            wire.setEntity(HealthEventCodec.toWire(key.entity()));
        }
        return wire.build();
    }

    public static FaultKey fromWire(dev.gpuwarden.api.v1.FaultKey wire) {
        return new FaultKey(
                wire.getAgent(),
                wire.getComponentClass(),
                wire.getCheckName(),
                wire.getNodeName(),
                wire.hasEntity() ? HealthEventCodec.fromWire(wire.getEntity()) : Entity.WHOLE,
                wire.getErrorCode(),
                wire.getReporter());
    }

    public static dev.gpuwarden.api.v1.StoredEvent toWire(StoredEvent stored) {
        return dev.gpuwarden.api.v1.StoredEvent.newBuilder()
                .setSequence(stored.sequence())
                .setEvent(HealthEventCodec.toWire(stored.event()))
                .setReceived(Timestamps.toWire(stored.received()))
                .setLastSeen(Timestamps.toWire(stored.lastSeen()))
                .setOccurrences(stored.occurrences())
                .build();
    }

    /** @throws java.time.DateTimeException where a time is outside of what the format allows */
    public static StoredEvent fromWire(dev.gpuwarden.api.v1.StoredEvent wire) {
        Instant received = Timestamps.fromWire(wire.getReceived());
        return new StoredEvent(
                wire.getSequence(),
                HealthEventCodec.fromWire(wire.getEvent(), received),
                received,
                Timestamps.fromWire(wire.getLastSeen()),
                wire.getOccurrences());
    }

    public static FaultChange.Effect toWire(FaultTable.Effect effect) {
        return EFFECTS.toWire(effect);
    }
}
