package dev.gpuwarden.runner;

import dev.gpuwarden.runner.jvm.Tier;
import java.util.List;

/**
 * A unit of work of a lane: the tests of one tier in one module, or a command that tests the program from outside.
 *
 * @param module empty for a command
 * @param alone jobs with the same word here never run at the same time; empty where it does not matter
 * @param command its words; empty for tests of a module
 */
public record Job(Tier tier, String module, String alone, List<String> command) {

    /** Reads a row of the table of jobs: tier, module or `-`, alone or `-`, command or `-`. */
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

    /** Returns a unique name, which is a valid file name too. */
    public String name() {
        return title().replaceAll("[^A-Za-z0-9]+", "-");
    }

    /** Returns the title for output, for example `unit daemon` or `nodes documents --user root`. */
    public String title() {
        return tier.tag() + " "
                + (ofTests() ? module : String.join(" ", command).replaceFirst("^[^ ]*/", ""));
    }
}
