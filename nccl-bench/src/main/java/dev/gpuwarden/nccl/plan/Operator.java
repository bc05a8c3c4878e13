package dev.gpuwarden.nccl.plan;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Operators in the order of nccl-tests. */
public enum Operator {
    SUM,
    PROD,
    MAX,
    MIN,
    AVG,
    /** A sum of elements that each rank multiplies by a number of its own. */
    MULSUM,
    /** For a collective that reduces nothing. */
    NONE;

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the operators that can be requested. */
    public static Stream<Operator> choices() {
        return Stream.of(values()).filter(operator -> operator != NONE);
    }

    public static Optional<Operator> of(String label) {
        return choices().filter(operator -> operator.label().equals(label)).findFirst();
    }
}
