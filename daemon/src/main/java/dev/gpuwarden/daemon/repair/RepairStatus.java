package dev.gpuwarden.daemon.repair;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The state of the repairs of this server, for metrics and the log.
 *
 * @param text the action, or the reason for none
 * @param tasks tasks of an operator
 * @param ended the numbers of ended attempts that the record has, by kind and outcome, such as {@code reset} and {@code failed}
 */
public record RepairStatus(State state, String text, List<String> tasks, Map<List<String>, Long> ended) {

    /** Names in lower case are those of the metric. */
    public enum State {
        /** No fault requests a repair. */
        IDLE,
        /** A fault is young, or a repair recent. */
        WAITING,
        /** A dry run, or too little data: nothing is done, for a reason. */
        BLOCKED,
        WORKING,
        /** Only an operator can continue. */
        OPERATOR;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public RepairStatus {
        tasks = List.copyOf(tasks);
        ended = Map.copyOf(ended);
    }
}
