package dev.gpuwarden.core.check;

import java.time.Duration;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The description of a check.
 *
 * @param id lower case with hyphens: on the command line, in settings and metrics
 * @param componentClass of its events: "GPU", "NIC", "NODE"
 * @param summary its purpose in one line
 * @param every interval between runs
 * @param confirm number of failed runs in a row that make a fault; 1 where one run is certain
 * @param proof number of passed runs in a row that clear a fault
 */
public record CheckInfo(String id, String componentClass, String summary, Duration every, int confirm, int proof) {

    /** Returns a check whose single run is certain, every 15 s; two passes clear its fault. */
    public static CheckInfo of(String id, String componentClass, String summary) {
        return new CheckInfo(id, componentClass, summary, Duration.ofSeconds(15), 1, 2);
    }

    public CheckInfo every(Duration period) {
        return new CheckInfo(id, componentClass, summary, period, confirm, proof);
    }

    /**
     * Returns the same check with other damping, for values that fluctuate.
     *
     * @param confirmLooks failed runs in a row that raise a fault
     * @param proofLooks passed runs in a row that clear it
     */
    public CheckInfo damped(int confirmLooks, int proofLooks) {
        return new CheckInfo(id, componentClass, summary, every, confirmLooks, proofLooks);
    }

    /**
     * Returns the check's name in events, which is the type of a Node condition too: "gpu-remapped-rows" is
     * "GpuRemappedRows".
     */
    public String eventName() {
        return Stream.of(id.split("-"))
                .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                .collect(Collectors.joining());
    }
}
