package dev.gpuwarden.core.event;

/**
 * The identity of a fault.
 *
 * @param entity {@link Entity#WHOLE} if the event named none
 * @param errorCode empty if the event named none
 */
public record FaultKey(
        String agent, String componentClass, String checkName, String nodeName, Entity entity, String errorCode) {

    /** Returns true if both are of one check of one agent on one node. */
    public boolean sameCheck(FaultKey other) {
        return agent.equals(other.agent)
                && componentClass.equals(other.componentClass)
                && checkName.equals(other.checkName)
                && nodeName.equals(other.nodeName);
    }
}
