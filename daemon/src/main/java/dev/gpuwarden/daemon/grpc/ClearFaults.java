package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.Reporter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Builds the healthy events that clear the selected faults and no others. Pure. */
final class ClearFaults {

    /** Metadata keys of such events. */
    static final String REASON = Reporter.REASON;

    static final String REQUESTED_BY = Reporter.REQUESTED_BY;

    /** The longest reason, in characters. */
    static final int MAX_REASON = 1024;

    /** Characters of the entities of one event; the rest is for its other texts. */
    private static final int MAX_ENTITY_CHARACTERS = EventLimits.CHARACTERS / 2;

    private static final int MAX_ENTITIES = 64;

    private ClearFaults() {}

    /** The selection of faults: a fault must meet all conditions; an empty one matches every fault. */
    record Selection(
            String agent, String componentClass, String checkName, Set<String> errorCodes, List<Entity> entities) {

        boolean empty() {
            return agent.isEmpty()
                    && componentClass.isEmpty()
                    && checkName.isEmpty()
                    && errorCodes.isEmpty()
                    && entities.isEmpty();
        }

        boolean matches(Fault fault) {
            FaultKey key = fault.key();
            return (agent.isEmpty() || agent.equals(key.agent()))
                    && (componentClass.isEmpty() || componentClass.equals(key.componentClass()))
                    && (checkName.isEmpty() || checkName.equals(key.checkName()))
                    && (errorCodes.isEmpty() || errorCodes.contains(key.errorCode()))
                    && (entities.isEmpty() || names(fault));
        }

        /** Matches as a healthy event does: a GPU is selected under every name in the fault's event. */
        private boolean names(Fault fault) {
            return entities.contains(fault.key().entity())
                    || fault.key().entity().namesGpu()
                            && fault.cause().entities().stream()
                                    .anyMatch(entity -> entity.namesGpu() && entities.contains(entity));
        }
    }

    /** @param by the peer, for messages */
    record Request(String reason, String by, Instant at) {}

    /** Returns the events that clear these faults. */
    static List<HealthEvent> events(List<Fault> selected, Request request) {
        List<HealthEvent> events = new ArrayList<>();
        // Faults of one check with one code: an event for them clears no others.
        FaultKey.entitiesByCode(selected).forEach((group, entities) -> {
            List<Entity> some = new ArrayList<>();
            int characters = 0;
            for (Entity entity : entities) {
                characters += entity.type().length() + entity.value().length();
                if (some.size() == MAX_ENTITIES || !some.isEmpty() && characters > MAX_ENTITY_CHARACTERS) {
                    events.add(event(group, some, request));
                    some.clear();
                    characters = entity.type().length() + entity.value().length();
                }
                some.add(entity);
            }
            events.add(event(group, some, request));
        });
        return events;
    }

    /**
     * Returns one event. It names entity and code even if the fault has none, by {@link Entity#WHOLE} and "": an
     * event without any would clear all other faults of the check too.
     */
    private static HealthEvent event(FaultKey group, List<Entity> entities, Request request) {
        return HealthEvent.of(group.agent(), group.componentClass(), group.checkName())
                .healthy(true)
                .message("set healthy by " + request.by() + ": " + request.reason())
                .action(RecommendedAction.NONE)
                .errorCodes(List.of(group.errorCode()))
                .entities(entities)
                .metadata(Map.of(REASON, request.reason(), REQUESTED_BY, request.by()))
                .generated(request.at())
                .nodeName(group.nodeName())
                .build();
    }
}
