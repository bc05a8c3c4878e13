package dev.gpuwarden.core.event;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An observation about a node's health, in the form that all parts exchange (health_event.proto of package
 * datamodels).
 *
 * @param id given by the sender; empty if it gives none
 * @param agent the program that made the observation, for example "syslog-health-monitor" or "gpuwarden"
 * @param componentClass the kind of part: "GPU", "NIC", "NVSWITCH", "NODE"
 * @param checkName the check; becomes the type of a Node condition
 * @param fatal true if the part is unusable
 * @param healthy true if the event reports health or recovery
 * @param errorCodes empty in a healthy event for any code
 * @param entities empty in a healthy event for all entities of the check
 * @param generated when the sender made the event, in the sender's clock
 * @param customAction the action's name if {@code action} is {@code CUSTOM}, else empty
 */
public record HealthEvent(
        String id,
        int version,
        String agent,
        String componentClass,
        String checkName,
        boolean fatal,
        boolean healthy,
        String message,
        RecommendedAction action,
        List<String> errorCodes,
        List<Entity> entities,
        Map<String, String> metadata,
        Instant generated,
        String nodeName,
        Overrides quarantine,
        Overrides drain,
        ProcessingStrategy strategy,
        String customAction) {

    /** Metadata key of the outcome of the last run of a check: pass, warn, fail. */
    public static final String OUTCOME = "gpuwarden.dev/outcome";

    private static final String PASS = "pass";

    public HealthEvent {
        errorCodes = List.copyOf(errorCodes);
        entities = List.copyOf(entities);
        metadata = Map.copyOf(metadata);
    }

    /** Returns a builder with default values. */
    public static Builder of(String agent, String componentClass, String checkName) {
        return new Builder(agent, componentClass, checkName);
    }

    /** A builder of events. Values that are not set have their empty default. */
    public static final class Builder {
        private final String agent;
        private final String componentClass;
        private final String checkName;
        private String id = "";
        private int version = 1;
        private boolean fatal;
        private boolean healthy;
        private String message = "";
        private RecommendedAction action = RecommendedAction.NONE;
        private List<String> errorCodes = List.of();
        private List<Entity> entities = List.of();
        private Map<String, String> metadata = Map.of();
        private Instant generated = Instant.EPOCH;
        private String nodeName = "";
        private Overrides quarantine = Overrides.NONE;
        private Overrides drain = Overrides.NONE;
        private ProcessingStrategy strategy = ProcessingStrategy.EXECUTE_REMEDIATION;
        private String customAction = "";

        private Builder(String agent, String componentClass, String checkName) {
            this.agent = agent;
            this.componentClass = componentClass;
            this.checkName = checkName;
        }

        public Builder id(String value) {
            id = value;
            return this;
        }

        public Builder version(int value) {
            version = value;
            return this;
        }

        public Builder fatal(boolean value) {
            fatal = value;
            return this;
        }

        public Builder healthy(boolean value) {
            healthy = value;
            return this;
        }

        public Builder message(String value) {
            message = value;
            return this;
        }

        public Builder action(RecommendedAction value) {
            action = value;
            return this;
        }

        public Builder errorCodes(List<String> value) {
            errorCodes = value;
            return this;
        }

        public Builder entities(List<Entity> value) {
            entities = value;
            return this;
        }

        public Builder metadata(Map<String, String> value) {
            metadata = value;
            return this;
        }

        public Builder generated(Instant value) {
            generated = value;
            return this;
        }

        public Builder nodeName(String value) {
            nodeName = value;
            return this;
        }

        public Builder quarantine(Overrides value) {
            quarantine = value;
            return this;
        }

        public Builder drain(Overrides value) {
            drain = value;
            return this;
        }

        public Builder strategy(ProcessingStrategy value) {
            strategy = value;
            return this;
        }

        public Builder customAction(String value) {
            customAction = value;
            return this;
        }

        public HealthEvent build() {
            return new HealthEvent(
                    id,
                    version,
                    agent,
                    componentClass,
                    checkName,
                    fatal,
                    healthy,
                    message,
                    action,
                    errorCodes,
                    entities,
                    metadata,
                    generated,
                    nodeName,
                    quarantine,
                    drain,
                    strategy,
                    customAction);
        }
    }

    /** Returns a builder with this event's values; agent, component class and check cannot be changed. */
    public Builder toBuilder() {
        return new Builder(agent, componentClass, checkName)
                .id(id)
                .version(version)
                .fatal(fatal)
                .healthy(healthy)
                .message(message)
                .action(action)
                .errorCodes(errorCodes)
                .entities(entities)
                .metadata(metadata)
                .generated(generated)
                .nodeName(nodeName)
                .quarantine(quarantine)
                .drain(drain)
                .strategy(strategy)
                .customAction(customAction);
    }

    /** Returns the same event under another id. */
    public HealthEvent withId(String other) {
        return toBuilder().id(other).build();
    }

    /** Returns the number of characters of all its texts. */
    public int characters() {
        int sum = id.length()
                + agent.length()
                + componentClass.length()
                + checkName.length()
                + message.length()
                + nodeName.length()
                + customAction.length();
        for (String code : errorCodes) {
            sum += code.length();
        }
        for (Entity entity : entities) {
            sum += entity.type().length() + entity.value().length();
        }
        for (Map.Entry<String, String> entry : metadata.entrySet()) {
            sum += entry.getKey().length() + entry.getValue().length();
        }
        return sum;
    }

    /**
     * Returns true for the cause of a fault that flaps, and whose check passes now. It holds a node in quarantine, and is no reason for
     * an act on the node. The sender is a check of the daemon; older daemons do not mark such faults, and faults of other senders are
     * never held.
     */
    public boolean isHeld() {
        return !healthy && PASS.equals(metadata.get(OUTCOME));
    }

    /**
     * Returns the keys of the faults that this event raises, or that it clears if it is healthy and names both entity
     * and code.
     */
    public List<FaultKey> keys() {
        List<Entity> parts = entities.isEmpty() ? List.of(Entity.WHOLE) : entities;
        List<String> codes = errorCodes.isEmpty() ? List.of("") : errorCodes;
        String reporter = Reporter.kindOf(this);
        return parts.stream()
                .flatMap(part -> codes.stream()
                        .map(code -> new FaultKey(agent, componentClass, checkName, nodeName, part, code, reporter)))
                .distinct()
                .toList();
    }

    /** The size limits of an event. Every receiver of events refuses larger ones, so the store never gets them. */
    public static final class EventLimits {

        /** Characters of all texts of an event together. Messages of real senders end at 1,000 to 4,000. */
        public static final int CHARACTERS = 16 * 1024;

        /** Faults of one event: each pair of entity and error code is a fault of its own. */
        public static final int FAULTS = 512;

        public static final int METADATA = 128;

        private EventLimits() {}

        /** Returns the violated limit as text for the sender; empty if the event keeps all limits. */
        public static Optional<String> violation(HealthEvent event) {
            if (event.checkName().isEmpty()) {
                return Optional.of("expected the name of a check, but checkName is empty");
            }
            int entities = event.entities().size();
            int codes = event.errorCodes().size();
            if (Math.max(1L, entities) * Math.max(1L, codes) > FAULTS) {
                return Optional.of("expected at most " + FAULTS + " pairs of entity and error code, but there are "
                        + entities + " entities and " + codes + " codes");
            }
            if (event.metadata().size() > METADATA) {
                return Optional.of("expected at most " + METADATA + " metadata entries, but there are "
                        + event.metadata().size());
            }
            int characters = event.characters();
            return characters > CHARACTERS
                    ? Optional.of("expected at most " + CHARACTERS + " characters of text, but there are " + characters)
                    : Optional.empty();
        }
    }
}
