package dev.gpuwarden.testkit.command;

import java.util.List;

/**
 * A command that a person would look with, and what its output must show.
 *
 * @param arguments of the program
 */
record DemoLook(List<String> arguments, DemoSign sign) {

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

    String name() {
        return arguments.get(0);
    }
}
