package dev.gpuwarden.aggregator.ruleset;

import java.util.Arrays;
import java.util.Optional;

/** One condition of a rule set: a CEL expression over an event, or over a Node. */
public record Clause(Kind kind, String expression) {

    public enum Kind {
        HEALTH_EVENT("HealthEvent", "event"),
        NODE("Node", "node");

        private final String label;
        private final String variable;

        Kind(String label, String variable) {
            this.label = label;
            this.variable = variable;
        }

        /** As the resource names it. */
        public String label() {
            return label;
        }

        /** What expressions of this kind call their subject. */
        public String variable() {
            return variable;
        }

        static Optional<Kind> of(String label) {
            return Arrays.stream(values())
                    .filter(kind -> kind.label.equals(label))
                    .findFirst();
        }
    }
}
