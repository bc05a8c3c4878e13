package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.breaker.PoolText;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** What the aggregator that leads goes by, for commands of people: it is in no other object of the cluster. */
public record Published(Mode mode, List<Pool> pools) {

    static final String MODE = "gpuwarden.dev/quarantine-mode";
    static final String POOLS = "gpuwarden.dev/breaker-pools";

    public Published {
        pools = List.copyOf(pools);
    }

    Map<String, String> annotations() {
        return Map.of(MODE, label(mode), POOLS, PoolText.write(pools));
    }

    /** As `--quarantine.mode` takes it. */
    public static String label(Mode mode) {
        return mode.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** @throws IllegalArgumentException with the annotation that is missing or wrong */
    public static Published of(Map<String, String> annotations) {
        String mode = text(annotations, MODE);
        String pools = text(annotations, POOLS);
        Mode one = Stream.of(Mode.values())
                .filter(each -> label(each).equals(mode))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "annotation " + MODE + ": expected armed or dry-run, found \"" + mode + "\""));
        try {
            return new Published(one, PoolText.parseAll(List.of(pools.split(","))));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("annotation " + POOLS + ": " + e.getMessage(), e);
        }
    }

    private static String text(Map<String, String> annotations, String name) {
        return Optional.ofNullable(annotations.get(name))
                .orElseThrow(() -> new IllegalArgumentException("expected the annotation " + name + ", there is none"));
    }
}
