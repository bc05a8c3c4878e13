package dev.gpuwarden.api;

import dev.gpuwarden.api.datamodels.BehaviourOverrides;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import java.time.Instant;
import java.util.List;

/**
 * The codec of health events between core and the wire. It loses nothing in either direction, except enum numbers that
 * this version does not support. It does not validate: events of untrusted senders must pass {@link EventRules}.
 */
public final class HealthEventCodec {

    private HealthEventCodec() {}

    public static dev.gpuwarden.api.datamodels.HealthEvent toWire(HealthEvent event) {
        dev.gpuwarden.api.datamodels.HealthEvent.Builder wire = dev.gpuwarden.api.datamodels.HealthEvent.newBuilder()
                .setVersion(event.version())
                .setAgent(event.agent())
                .setComponentClass(event.componentClass())
                .setCheckName(event.checkName())
                .setIsFatal(event.fatal())
                .setIsHealthy(event.healthy())
                .setMessage(event.message())
                .setRecommendedActionValue(event.action().number())
                .addAllErrorCode(event.errorCodes())
                .putAllMetadata(event.metadata())
                .setGeneratedTimestamp(Timestamps.toWire(event.generated()))
                .setNodeName(event.nodeName())
                .setProcessingStrategyValue(event.strategy().ordinal())
                .setId(event.id())
                .setCustomRecommendedAction(event.customAction());
        event.entities().forEach(entity -> wire.addEntitiesImpacted(toWire(entity)));
        // Absent means neither, in fewer bytes.
        if (!event.quarantine().equals(Overrides.NONE)) {
            wire.setQuarantineOverrides(toWire(event.quarantine()));
        }
        if (!event.drain().equals(Overrides.NONE)) {
            wire.setDrainOverrides(toWire(event.drain()));
        }
        return wire.build();
    }

    /** @param otherwise the time where the event has none, or one outside of what the format allows */
    public static HealthEvent fromWire(dev.gpuwarden.api.datamodels.HealthEvent wire, Instant otherwise) {
        return new HealthEvent(
                wire.getId(),
                wire.getVersion(),
                wire.getAgent(),
                wire.getComponentClass(),
                wire.getCheckName(),
                wire.getIsFatal(),
                wire.getIsHealthy(),
                wire.getMessage(),
                RecommendedAction.of(wire.getRecommendedActionValue()),
                // A copy does not keep the message in memory.
                List.copyOf(wire.getErrorCodeList()),
                entities(wire.getEntitiesImpactedList()),
                wire.getMetadataMap(),
                wire.hasGeneratedTimestamp()
                        ? Timestamps.parse(wire.getGeneratedTimestamp()).orElse(otherwise)
                        : otherwise,
                wire.getNodeName(),
                fromWire(wire.getQuarantineOverrides()),
                fromWire(wire.getDrainOverrides()),
                strategy(wire.getProcessingStrategyValue()),
                wire.getCustomRecommendedAction());
    }

    public static dev.gpuwarden.api.datamodels.Entity toWire(Entity entity) {
        return dev.gpuwarden.api.datamodels.Entity.newBuilder()
                .setEntityType(entity.type())
                .setEntityValue(entity.value())
                .build();
    }

    public static Entity fromWire(dev.gpuwarden.api.datamodels.Entity wire) {
        return new Entity(wire.getEntityType(), wire.getEntityValue());
    }

    static List<Entity> entities(List<dev.gpuwarden.api.datamodels.Entity> wire) {
        return wire.stream().map(HealthEventCodec::fromWire).toList();
    }

    private static BehaviourOverrides toWire(Overrides overrides) {
        return BehaviourOverrides.newBuilder()
                .setForce(overrides.force())
                .setSkip(overrides.skip())
                .build();
    }

    private static Overrides fromWire(BehaviourOverrides wire) {
        return wire.getForce() || wire.getSkip() ? new Overrides(wire.getForce(), wire.getSkip()) : Overrides.NONE;
    }

    private static ProcessingStrategy strategy(int number) {
        ProcessingStrategy[] known = ProcessingStrategy.values();
        return number >= 0 && number < known.length ? known[number] : ProcessingStrategy.UNSPECIFIED;
    }
}
