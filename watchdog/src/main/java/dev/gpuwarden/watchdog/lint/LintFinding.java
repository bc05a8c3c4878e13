package dev.gpuwarden.watchdog.lint;

import java.util.Locale;

/**
 * A fault of one workload.
 *
 * @param problem seen and expected
 * @param remedy next action
 */
public record LintFinding(Rule rule, Workload workload, String problem, String remedy) {

    public enum Rule {
        /** The quantity is none, or no whole number of at least 0. */
        NO_QUANTITY(true),
        /** The quantity is more than any card has: its author took bytes for the unit. */
        UNIT(true),
        REQUEST_IS_NOT_LIMIT(true),
        /** The resource is in {@code spec.resources}, where the API server refuses it. */
        POD_LEVEL(true),
        ABOVE_LARGEST_CARD(true),
        /** One of its pods fits on the largest card, all together do not. */
        REPLICAS_ABOVE_CARD(false),
        /** An update waits for memory that the pods which it replaces hold. */
        SURGE(false),
        WITHOUT_GPU(false),
        /** One budget for several GPUs: the watchdog never acts on such a pod. */
        UNKNOWN_SPLIT(false),
        BELOW_USE(false);

        private final boolean fails;

        Rule(boolean fails) {
            this.fails = fails;
        }

        /** Returns whether its pods are refused, or never run; otherwise they can, and may do harm. */
        public boolean fails() {
            return fails;
        }

        /** Returns the name in lower case with hyphens. */
        public String code() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }
}
