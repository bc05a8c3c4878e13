package dev.gpuwarden.daemon.checkpoint;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Signals that a pod may ask for. Those that no program can answer (KILL, STOP) are none of them. */
final class SignalName {

    /** Of x86-64 and arm64. */
    private static final Map<String, Integer> NUMBERS =
            new TreeMap<>(Map.of("SIGHUP", 1, "SIGINT", 2, "SIGUSR1", 10, "SIGUSR2", 12, "SIGTERM", 15));

    private SignalName() {}

    static Optional<Integer> number(String name) {
        return Optional.ofNullable(NUMBERS.get(name));
    }

    static String expected() {
        return String.join(", ", NUMBERS.keySet());
    }
}
