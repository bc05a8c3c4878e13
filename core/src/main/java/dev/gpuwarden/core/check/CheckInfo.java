package dev.gpuwarden.core.check;

import java.time.Duration;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a check is, for the runner and for people.
 *
 * @param id lower case with hyphens: on the command line, in settings and metrics
 * @param componentClass of the events: "GPU", "NIC", "NODE"
 * @param summary what it asks, in one line
 * @param every how often it runs
 * @param confirm so many bad looks in a row make a fault; 1 where one look is certain
 * @param proof so many good looks in a row lift a fault
 */
public record CheckInfo(String id, String componentClass, String summary, Duration every, int confirm, int proof) {

    /** A check of which one look is certain, every 15 s; lifted by two good looks. */
    public static CheckInfo of(String id, String componentClass, String summary) {
        return new CheckInfo(id, componentClass, summary, Duration.ofSeconds(15), 1, 2);
    }

    public CheckInfo every(Duration period) {
        return new CheckInfo(id, componentClass, summary, period, confirm, proof);
    }

    /** For values that come and go: so many bad looks in a row raise, so many good ones lift. */
    public CheckInfo damped(int confirmLooks, int proofLooks) {
        return new CheckInfo(id, componentClass, summary, every, confirmLooks, proofLooks);
    }

    /** The check's name in events, and so the type of a Node condition: "gpu-remapped-rows" is "GpuRemappedRows". */
    public String eventName() {
        return Stream.of(id.split("-"))
                .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                .collect(Collectors.joining());
    }
}
