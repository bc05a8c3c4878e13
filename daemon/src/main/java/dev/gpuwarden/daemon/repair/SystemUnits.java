package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.daemon.script.ManagerProgram;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The units of systemd that use GPUs. Calls block for two minutes at most. */
record SystemUnits(List<String> names) {

    /** A unit states its own time to end: TimeoutStopSec, 90 s by default. */
    private static final Duration LONGEST = Duration.ofSeconds(120);

    /** Returns true if the unit runs, or is about to. */
    boolean isActive(String unit) throws InterruptedException {
        return systemctl("is-active", unit).run().out().strip().matches("active|activating|reloading");
    }

    ManagerProgram stop(String unit) throws InterruptedException {
        return systemctl("stop", unit);
    }

    ManagerProgram start(String unit) throws InterruptedException {
        return systemctl("start", unit);
    }

    /** Asks for the start alone. A daemon that ends has no time to wait for it. */
    ManagerProgram requestStart(String unit) throws InterruptedException {
        return systemctl("start", "--no-block", unit);
    }

    private static ManagerProgram systemctl(String... words) throws InterruptedException {
        List<String> command = new ArrayList<>(List.of("systemctl"));
        command.addAll(List.of(words).subList(0, words.length - 1));
        command.addAll(List.of("--", words[words.length - 1]));
        return ManagerProgram.run(command, LONGEST);
    }
}
