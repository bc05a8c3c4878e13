package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.api.v1.OverBudget;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.action.Actuator;
import java.time.Duration;
import java.util.OptionalLong;

/** The way to this node's pods and Node: an aggregator, or the daemon's own account. Thread-safe. */
public interface PodControl {

    /** Returns the pods with a budget; absent with the cause while they are unknown. Does not block. */
    Reading<Pods> pods();

    /**
     * Sets the value for the Node, also an equal one. Does not block.
     *
     * @param mib empty if the Node must not have the resource
     * @param ofLargestCard part of the value that the largest card has; empty if one card has all of it
     */
    void advertise(OptionalLong mib, OptionalLong ofLargestCard);

    /** Sets the value of a node with one card. */
    default void advertise(OptionalLong mib) {
        advertise(mib, OptionalLong.empty());
    }

    /** Sets the pods above their budgets, where an aggregator names them to pods that wait; otherwise it has no effect. Does not block. */
    default void overBudget(OverBudget report) {}

    /**
     * Returns the way to end a pod.
     *
     * @param pods the pods of tenants
     * @param mostGrace longest grace period of a pod
     */
    Actuator eviction(PodTerms pods, Duration mostGrace);
}
