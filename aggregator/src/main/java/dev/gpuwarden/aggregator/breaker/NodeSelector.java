package dev.gpuwarden.aggregator.breaker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A selector of a pool's nodes by their labels, in the form of `kubectl --selector`: `a=b,c!=d,e,!f`. An empty text selects
 * every node.
 */
public final class NodeSelector {

    private record Term(String key, String value, boolean anyValue, boolean not) {
        boolean test(Map<String, String> labels) {
            String is = labels.get(key);
            return not != (is != null && (anyValue || is.equals(value)));
        }
    }

    private final String text;
    private final List<Term> terms = new ArrayList<>();

    private NodeSelector(String text) {
        this.text = text;
    }

    /** @throws IllegalArgumentException with the first invalid term */
    public static NodeSelector parse(String text) {
        NodeSelector selector = new NodeSelector(text);
        for (String term : text.split(",")) {
            if (!text.isBlank()) {
                selector.terms.add(term(term.strip()));
            }
        }
        return selector;
    }

    private static Term term(String term) {
        int different = term.indexOf("!=");
        int equal = term.indexOf('=');
        if (different > 0) {
            return new Term(term.substring(0, different), term.substring(different + 2), false, true);
        }
        if (equal > 0) {
            int value = term.startsWith("==", equal) ? equal + 2 : equal + 1;
            return new Term(term.substring(0, equal), term.substring(value), false, false);
        }
        boolean not = term.startsWith("!");
        String key = not ? term.substring(1) : term;
        if (equal == 0 || key.isEmpty() || key.contains(" ")) {
            throw new IllegalArgumentException("expected key=value, key!=value, key or !key, found \"" + term + "\"");
        }
        return new Term(key, "", true, not);
    }

    public boolean matches(Map<String, String> labels) {
        return terms.stream().allMatch(term -> term.test(labels));
    }

    @Override
    public String toString() {
        return text;
    }
}
