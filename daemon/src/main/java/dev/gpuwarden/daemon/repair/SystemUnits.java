package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ManagerProgram;
import dev.gpuwarden.checks.child.ProgramRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The units of systemd that use GPUs. Calls block for two minutes at most. */
record SystemUnits(List<String> names, ProgramRunner programs) {

    /** A unit states its own time to end: TimeoutStopSec, 90 s by default. */
    private static final Duration LONGEST = Duration.ofSeconds(120);

    /** The name of the unit that starts the others. */
    private static final String STARTER = "gpuwarden-start-units";

    /** Its first word is the unit that must end. */
    private static final String AFTER = """
            while systemctl is-active -- "$0" >/dev/null; do sleep 1; done
            exec systemctl start --no-block -- "$@"
            """;

    /** Returns true if the unit runs, or is about to. */
    boolean isActive(String unit) throws InterruptedException {
        return !active(List.of(unit)).isEmpty();
    }

    /** Returns those of these units that run, or are about to, by one call. */
    List<String> active(List<String> units) throws InterruptedException {
        if (units.isEmpty()) {
            return List.of();
        }
        // One line for each unit, in their order.
        List<String> states =
                systemctl(List.of("is-active"), units).run().out().lines().toList();
        return IntStream.range(0, Math.min(units.size(), states.size()))
                .filter(i -> states.get(i).strip().matches("active|activating|reloading"))
                .mapToObj(units::get)
                .toList();
    }

    ManagerProgram stop(String unit) throws InterruptedException {
        return systemctl(List.of("stop"), List.of(unit));
    }

    ManagerProgram start(String unit) throws InterruptedException {
        return systemctl(List.of("start"), List.of(unit));
    }

    /** Asks for the start alone. A daemon that ends has no time to wait for it. */
    ManagerProgram requestStart(String unit) throws InterruptedException {
        return systemctl(List.of("start", "--no-block"), List.of(unit));
    }

    /**
     * Has systemd start the units in this order once another unit has ended. It needs no process of the daemon, which may have ended
     * for good by then.
     */
    ManagerProgram requestStartAfter(String other, List<String> units) throws InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                "systemd-run",
                "--quiet",
                "--collect",
                "--no-block",
                "--unit=" + STARTER,
                "/bin/sh",
                "-c",
                AFTER,
                other));
        command.addAll(units);
        return ManagerProgram.run(programs, command, LONGEST, Map.of());
    }

    private ManagerProgram systemctl(List<String> words, List<String> units) throws InterruptedException {
        List<String> command = new ArrayList<>(List.of("systemctl"));
        command.addAll(words);
        command.add("--");
        command.addAll(units);
        return ManagerProgram.run(programs, command, LONGEST, Map.of());
    }
}
