package dev.gpuwarden.testkit.scenario;

import java.util.List;

/** A checked value of a key, ready for the simulator's table. */
public sealed interface Value {

    /** No value: the driver returns NOT_SUPPORTED. */
    record Absent() implements Value {}

    record Text(String text) implements Value {}

    /** A number that is added to the present value. */
    record Added(long number) implements Value {}

    /** One number per field of the key, or one for all of them. */
    record Numbers(List<Long> numbers) implements Value {
        public static Numbers of(long... numbers) {
            return new Numbers(java.util.Arrays.stream(numbers).boxed().toList());
        }
    }
}
