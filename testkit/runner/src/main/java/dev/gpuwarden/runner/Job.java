package dev.gpuwarden.runner;

import java.util.List;

/**
 * What a lane runs at a time: the tests of one tier in one module, or a command that tests the program from outside.
 *
 * @param module empty for a command
 * @param alone jobs with the same word here never run at the same time; empty where it does not matter
 * @param command its words; empty for tests of a module
 */
public record Job(Tier tier, String module, String alone, List<String> command) {

    /** Jobs of a table with a row for each: tier, module or `-`, alone or `-`, command or `-`. */
    public static Job parse(String row) {
        List<String> part = List.of(row.split("\\s+", 4));
        Tier tier = Tier.named(part.get(0)).orElseThrow(() -> new IllegalArgumentException("no tier: " + row));
        return new Job(
                tier,
                part.get(1).equals("-") ? "" : part.get(1),
                part.get(2).equals("-") ? "" : part.get(2),
                part.get(3).equals("-") ? List.of() : List.of(part.get(3).split(" ")));
    }

    public boolean ofTests() {
        return command.isEmpty();
    }

    /** Unique among jobs; good for a file's name too. */
    public String name() {
        return title().replaceAll("[^A-Za-z0-9]+", "-");
    }

    /** For people, as in `unit daemon` and `nodes documents --user root`. */
    public String title() {
        return tier.tag() + " "
                + (ofTests() ? module : String.join(" ", command).replaceFirst("^[^ ]*/", ""));
    }
}
