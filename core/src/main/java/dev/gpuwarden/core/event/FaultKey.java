package dev.gpuwarden.core.event;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The identity of a fault.
 *
 * @param entity {@link Entity#WHOLE} if the event named none
 * @param errorCode empty if the event named none
 * @param reporter the kind of its {@link Reporter}, so that no reporter changes a fault of another; empty for gpuwarden's
 *     own programs, for faults of older versions, and in the cluster's resources
 */
public record FaultKey(
        String agent,
        String componentClass,
        String checkName,
        String nodeName,
        Entity entity,
        String errorCode,
        String reporter) {

    /** Creates the key of a fault without a reporter. */
    public FaultKey(
            String agent, String componentClass, String checkName, String nodeName, Entity entity, String errorCode) {
        this(agent, componentClass, checkName, nodeName, entity, errorCode, "");
    }

    /** By check first. Two keys that are not equal are never in the same place. */
    public static final Comparator<FaultKey> ORDER = Comparator.comparing(FaultKey::checkName)
            .thenComparing(FaultKey::agent)
            .thenComparing(FaultKey::componentClass)
            .thenComparing(FaultKey::nodeName)
            .thenComparing(key -> key.entity.type())
            .thenComparing(key -> key.entity.value())
            .thenComparing(FaultKey::errorCode)
            .thenComparing(FaultKey::reporter);

    /** Returns true if both are of one check of one agent on one node, whatever their reporters are. */
    public boolean sameCheck(FaultKey other) {
        return agent.equals(other.agent)
                && componentClass.equals(other.componentClass)
                && checkName.equals(other.checkName)
                && nodeName.equals(other.nodeName);
    }

    /** Returns the entities of these faults by check and code, as a key without an entity; both in the order of the faults. */
    public static Map<FaultKey, Set<Entity>> entitiesByCode(List<Fault> faults) {
        Map<FaultKey, Set<Entity>> entities = new LinkedHashMap<>();
        for (Fault fault : faults) {
            FaultKey key = fault.key();
            entities.computeIfAbsent(key.with(Entity.WHOLE), whole -> new LinkedHashSet<>())
                    .add(key.entity);
        }
        return entities;
    }

    /** Returns the key of the same part and code without its reporter. */
    public FaultKey ofAnyReporter() {
        return with(entity);
    }

    private FaultKey with(Entity other) {
        return new FaultKey(agent, componentClass, checkName, nodeName, other, errorCode);
    }
}
