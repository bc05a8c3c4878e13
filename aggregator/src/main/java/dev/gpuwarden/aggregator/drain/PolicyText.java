package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.drain.DrainPolicies.Glob;
import dev.gpuwarden.aggregator.drain.DrainPolicies.NamespaceRule;
import dev.gpuwarden.aggregator.drain.DrainPolicies.PodRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Rules as people write them: {@code team-*=Immediate}, and {@code app=training,tier!=test;DeleteAfterTimeout;team-*}. */
public final class PolicyText {

    private static final Pattern GLOB = Pattern.compile("[a-z0-9*?-]{1,63}");
    private static final int MOST_PARTS = 3;

    private PolicyText() {}

    /** @throws IllegalArgumentException with what was expected and what was found */
    public static NamespaceRule namespace(String text) {
        int equal = text.indexOf('=');
        if (equal < 0) {
            throw new IllegalArgumentException(
                    "expected NAMESPACE=MODE as in team-*=Immediate, found \"" + text + "\"");
        }
        return new NamespaceRule(glob(text.substring(0, equal)), mode(text.substring(equal + 1)));
    }

    /**
     * Rules of a list that was split at each comma, as settings are: those within a selector belong to it.
     *
     * @throws IllegalArgumentException as above
     */
    public static List<PodRule> pods(List<String> pieces) {
        List<PodRule> rules = new ArrayList<>();
        String begun = "";
        for (String piece : pieces) {
            begun += (begun.isEmpty() ? "" : ",") + piece;
            if (piece.contains(";")) {
                rules.add(pod(begun));
                begun = "";
            }
        }
        if (!begun.isEmpty()) {
            throw new IllegalArgumentException(expected(begun));
        }
        return rules;
    }

    private static PodRule pod(String text) {
        String[] parts = text.split(";", -1);
        if (parts.length > MOST_PARTS || parts[0].isBlank()) {
            throw new IllegalArgumentException(expected(text));
        }
        Optional<Glob> namespace = parts.length < MOST_PARTS ? Optional.empty() : Optional.of(glob(parts[2].strip()));
        return new PodRule(NodeSelector.parse(parts[0].strip()), namespace, mode(parts[1].strip()));
    }

    private static String expected(String text) {
        return "expected SELECTOR;MODE or SELECTOR;MODE;NAMESPACE as in app=training;Immediate;team-*, found \"" + text
                + "\"";
    }

    private static Glob glob(String text) {
        if (!GLOB.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "expected a namespace of letters, digits, - and * and ? for any, found \"" + text + "\"");
        }
        return new Glob(text);
    }

    private static DrainMode mode(String text) {
        return Arrays.stream(DrainMode.values())
                .filter(mode -> mode.label().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("expected one of "
                        + Arrays.stream(DrainMode.values())
                                .map(DrainMode::label)
                                .collect(Collectors.joining(", "))
                        + ", found \"" + text + "\""));
    }
}
