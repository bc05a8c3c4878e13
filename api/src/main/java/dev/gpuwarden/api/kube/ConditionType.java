package dev.gpuwarden.api.kube;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Under which type a check is told: its own name. A name that Kubernetes itself uses, that somebody else uses on this node, or that
 * is no name of a condition, goes below {@link #PREFIX}, since check names come from whoever may report events: one called
 * `Ready` must not take a node out of service or put it back.
 */
public final class ConditionType {

    public static final String PREFIX = "gpuwarden.dev/";
    /** For all that find no room. */
    static final String OTHERS = PREFIX + "OtherChecks";

    private static final int LONGEST = 63;
    /** meta/v1, Condition: the pattern of its type, here with one name of a domain at most. */
    private static final Pattern VALID = Pattern.compile(
            "(?:[a-z0-9](?:[-a-z0-9.]{0,200}[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
    /** core/v1, NodeConditionType, with those of old and of cloud providers. */
    private static final Set<String> KUBERNETES = Set.of(
            "ready",
            "memorypressure",
            "diskpressure",
            "pidpressure",
            "networkunavailable",
            "outofdisk",
            "configok",
            "kubeletconfigok");

    private ConditionType() {}

    public static String of(String check, NodeView there) {
        boolean own = VALID.matcher(check).matches() && !reserved(check) && !there.foreign(check);
        return own ? check : PREFIX + word(check);
    }

    private static boolean reserved(String check) {
        String domain = check.indexOf('/') < 0 ? "" : check.substring(0, check.indexOf('/'));
        return KUBERNETES.contains(check.toLowerCase(Locale.ROOT))
                || domain.equals("kubernetes.io")
                || domain.endsWith(".kubernetes.io")
                || domain.endsWith("k8s.io");
    }

    /** The name as far as it is one. */
    static String word(String check) {
        String word = check.replaceAll("[^A-Za-z0-9_.-]+", "-");
        if (word.length() > LONGEST) {
            word = word.substring(0, LONGEST);
        }
        word = word.replaceAll("^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "");
        return word.isEmpty() ? "unnamed" : word;
    }

    /** The name of the check in a type, for reasons. */
    public static String check(String type) {
        return type.startsWith(PREFIX) ? type.substring(PREFIX.length()) : type;
    }
}
