package dev.gpuwarden.aggregator.remediation;

import java.util.Set;
import java.util.TreeSet;

/**
 * The faults of one event that are reported now. The action is reset, restart, none, or a task of a person.
 *
 * @param gpus GPUs at fault; empty if the event names none
 * @param held true while its check passes, so that it is a reason for nothing
 * @param skip true if no drain shows that its GPUs are free
 */
record ModelFault(String check, Set<String> gpus, String action, long since, boolean skip, boolean held) {

    ModelFault held(boolean now) {
        return new ModelFault(check, gpus, action, since, skip, now);
    }

    String id() {
        return check + " " + new TreeSet<>(gpus) + " " + since;
    }

    Set<String> subjects() {
        return gpus.isEmpty() ? Set.of(check) : gpus;
    }

    boolean isOf(ModelAction action) {
        return subjects().stream().anyMatch(action.subjects::contains);
    }
}
