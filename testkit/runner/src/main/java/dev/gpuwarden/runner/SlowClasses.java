package dev.gpuwarden.runner;

import java.util.Set;
import java.util.stream.Collectors;

/** The test classes that may take long, each with its reason: `slow-classes.tsv`. */
record SlowClasses(Set<String> names) {

    /** Limit of any other class that runs alone. */
    static final long LIMIT_MILLIS = 15_000;

    /** Limit beside other lanes, which double most times; a class over it is measured alone. */
    static final long LIMIT_BESIDE_MILLIS = 2 * LIMIT_MILLIS;

    static SlowClasses listed() {
        return new SlowClasses(Table.rows("slow-classes.tsv").stream()
                .map(row -> row.split("\\s+", 2))
                .peek(row -> {
                    if (row.length != 2) {
                        throw new IllegalArgumentException(
                                "slow-classes.tsv: expected a class and a reason, seen " + row[0]);
                    }
                })
                .map(row -> row[0])
                .collect(Collectors.toSet()));
    }

    boolean has(String className) {
        return names.contains(className);
    }
}
