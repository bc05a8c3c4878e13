package dev.gpuwarden.testkit.command;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A command and a line that its output must contain.
 *
 * @param arguments of the program
 */
record NodeDemoCheck(List<String> arguments, ExpectedLine expected) {

    private static final Pattern OF_A_GPU = Pattern.compile("^[0-9]+ ");

    /** Returns a check of a row of `scan`, which reads the driver itself. */
    static NodeDemoCheck scan(String row) {
        return new NodeDemoCheck(List.of("scan"), ExpectedLine.of(row));
    }

    /** Returns a check of `status`, which queries the daemon over gRPC. */
    static NodeDemoCheck status(ExpectedLine expected) {
        return new NodeDemoCheck(List.of("status"), expected);
    }

    /** Returns a check of `events`, the daemon's history, over gRPC too. */
    static NodeDemoCheck events(String row) {
        return new NodeDemoCheck(List.of("events", "--since", "20s"), ExpectedLine.of(row));
    }

    /** Returns the output without the rows of other GPUs; the whole output when the expected line is missing. */
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
