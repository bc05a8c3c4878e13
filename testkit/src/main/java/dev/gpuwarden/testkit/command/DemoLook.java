package dev.gpuwarden.testkit.command;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A command that a person would look with, and what its output must show.
 *
 * @param arguments of the program
 */
record DemoLook(List<String> arguments, DemoSign sign) {

    private static final Pattern OF_A_GPU = Pattern.compile("^[0-9]+ ");

    /** A row of the table of GPUs, read from the driver anew. */
    static DemoLook scan(String row) {
        return new DemoLook(List.of("scan"), DemoSign.of(row));
    }

    /** Asked of the daemon over gRPC. */
    static DemoLook status(DemoSign sign) {
        return new DemoLook(List.of("status"), sign);
    }

    /** The history that the daemon keeps, over gRPC too. */
    static DemoLook events(String row) {
        return new DemoLook(List.of("events", "--since", "20s"), DemoSign.of(row));
    }

    /** Of an output that shows the sign, what is about it: of the rows of other GPUs none. */
    String excerpt(String output) {
        if (!sign.seenIn(output)) {
            return output;
        }
        return output.lines()
                .filter(line -> !OF_A_GPU.matcher(line).find() || sign.seenIn(line))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    String name() {
        return arguments.get(0);
    }
}
