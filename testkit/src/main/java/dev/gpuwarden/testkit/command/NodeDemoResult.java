package dev.gpuwarden.testkit.command;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The result of a step of the demo.
 *
 * @param seen true where it was visible, by name of the place
 * @param took time until the metrics showed it, or until the demo gave up
 * @param limit of that time on a machine that is not busy
 */
record NodeDemoResult(Map<String, Boolean> seen, Duration took, Duration limit) {

    /** @param outputs of the commands of the step's checks */
    static NodeDemoResult of(
            NodeDemoStep step, boolean metrics, Duration took, String page, Map<NodeDemoCheck, String> outputs) {
        Map<String, Boolean> seen = new TreeMap<>();
        if (!step.page().isEmpty()) {
            seen.put("page", step.matchesPage(page));
        }
        outputs.forEach(
                (check, output) -> seen.merge(check.name(), check.expected().matches(output), Boolean::logicalAnd));
        seen.put("metrics", metrics);
        return new NodeDemoResult(seen, took, step.limit());
    }

    int missed() {
        return (int) seen.values().stream().filter(shown -> !shown).count();
    }

    boolean late() {
        return took.compareTo(limit) > 0;
    }

    String text() {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "-> after %.1f s%s %d s",
                took.toMillis() / 1e3,
                late() ? ", later than" : " of",
                limit.toSeconds()));
        seen.forEach((place, shown) ->
                text.append(shown ? ", seen in " : ", NOT SEEN IN ").append(place));
        return text.toString();
    }
}
