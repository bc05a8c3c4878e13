package dev.gpuwarden.testkit.scenario;

import java.util.List;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Text of log lines in scenarios: `{gpu.3}` is that GPU's address as the driver prints it (0000:5b:00), `{uuid.3}` its UUID,
 * `{n}` the number of the line in a storm. Other braces are literal.
 */
public final class LineText {

    private static final Pattern NAME = Pattern.compile("\\{(?:(gpu|uuid)\\.(\\d{1,2})|n)}");

    private LineText() {}

    /**
     * Replaces the names in a line.
     *
     * @param number of the line
     */
    public static String fill(String text, IntFunction<String> address, IntFunction<String> uuid, long number) {
        return NAME.matcher(text).replaceAll(m -> {
            if (m.group(1) == null) {
                return Long.toString(number);
            }
            int gpu = Integer.parseInt(m.group(2));
            return Matcher.quoteReplacement(m.group(1).equals("gpu") ? address.apply(gpu) : uuid.apply(gpu));
        });
    }

    /** Reads one line or several, each about GPUs of the scenario. */
    static List<String> read(YamlNode node, int gpuCount) {
        return node.oneOrMore().stream()
                .map(item -> {
                    boolean known = NAME.matcher(item.text())
                            .results()
                            .allMatch(m -> m.group(2) == null || Integer.parseInt(m.group(2)) < gpuCount);
                    if (!known) {
                        throw item.problem("GPUs below " + gpuCount);
                    }
                    return item.text();
                })
                .toList();
    }
}
