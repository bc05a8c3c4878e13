package dev.gpuwarden.aggregator.breaker;

import dev.gpuwarden.aggregator.controller.ActionMode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** What the aggregator that leads goes by, for commands of people: it is in no other object of the cluster. */
public record BreakerSettingsAnnotation(ActionMode mode, List<Pool> pools) {

    static final String MODE = "gpuwarden.dev/quarantine-mode";
    static final String POOLS = "gpuwarden.dev/breaker-pools";

    public BreakerSettingsAnnotation {
        pools = List.copyOf(pools);
    }

    public Map<String, String> annotations() {
        return Map.of(MODE, label(mode), POOLS, Pool.Parser.write(pools));
    }

    /** As `--quarantine.mode` takes it. */
    public static String label(ActionMode mode) {
        return mode.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** @throws IllegalArgumentException with the annotation that is missing or wrong */
    public static BreakerSettingsAnnotation of(Map<String, String> annotations) {
        String mode = text(annotations, MODE);
        String pools = text(annotations, POOLS);
        ActionMode one = Stream.of(ActionMode.values())
                .filter(each -> label(each).equals(mode))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "annotation " + MODE + ": expected armed or dry-run, found \"" + mode + "\""));
        try {
            return new BreakerSettingsAnnotation(one, Pool.Parser.parseAll(List.of(pools.split(","))));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("annotation " + POOLS + ": " + e.getMessage(), e);
        }
    }

    private static String text(Map<String, String> annotations, String name) {
        return Optional.ofNullable(annotations.get(name))
                .orElseThrow(() -> new IllegalArgumentException("expected the annotation " + name + ", there is none"));
    }
}
