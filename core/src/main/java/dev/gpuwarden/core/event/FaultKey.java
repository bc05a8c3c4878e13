package dev.gpuwarden.core.event;

/**
 * What makes two faults the same one.
 *
 * @param entity {@link Entity#WHOLE} where the event named none
 * @param errorCode empty where the event named none
 */
public record FaultKey(
        String agent, String componentClass, String checkName, String nodeName, Entity entity, String errorCode) {

    /** Whether both are of one check of one agent on one node. */
    public boolean sameCheck(FaultKey other) {
        return agent.equals(other.agent)
                && componentClass.equals(other.componentClass)
                && checkName.equals(other.checkName)
                && nodeName.equals(other.nodeName);
    }
}
