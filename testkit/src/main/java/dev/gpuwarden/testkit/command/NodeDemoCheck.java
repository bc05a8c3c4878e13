package dev.gpuwarden.testkit.command;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A command that a person would look with, and what its output must show.
 *
 * @param arguments of the program
 */
record NodeDemoCheck(List<String> arguments, ExpectedLine expected) {

    private static final Pattern OF_A_GPU = Pattern.compile("^[0-9]+ ");

    /** A row of the table of GPUs, read from the driver anew. */
    static NodeDemoCheck scan(String row) {
        return new NodeDemoCheck(List.of("scan"), ExpectedLine.of(row));
    }

    /** Asked of the daemon over gRPC. */
    static NodeDemoCheck status(ExpectedLine expected) {
        return new NodeDemoCheck(List.of("status"), expected);
    }

    /** The history that the daemon keeps, over gRPC too. */
    static NodeDemoCheck events(String row) {
        return new NodeDemoCheck(List.of("events", "--since", "20s"), ExpectedLine.of(row));
    }

    /** Of an output that shows the sign, what is about it: of the rows of other GPUs none. */
    String excerpt(String output) {
        if (!expected.matches(output)) {
            return output;
        }
        return output.lines()
                .filter(line -> !OF_A_GPU.matcher(line).find() || expected.matches(line))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    String name() {
        return arguments.get(0);
    }
}
