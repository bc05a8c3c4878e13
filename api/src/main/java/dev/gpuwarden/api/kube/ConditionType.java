package dev.gpuwarden.api.kube;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The condition type of a check: its own name. A name goes below {@link #PREFIX} where Kubernetes uses it, where
 * another program uses it on this node, or where it is no valid type. Check names come from untrusted reporters: a
 * check called `Ready` must not take a node out of service or put it back.
 */
public final class ConditionType {

    public static final String PREFIX = "gpuwarden.dev/";
    /** The type for all checks that find no room. */
    static final String OTHERS = PREFIX + "OtherChecks";

    private static final int LONGEST = 63;
    /** The pattern of a type in meta/v1, Condition, here with at most one domain name. */
    private static final Pattern VALID = Pattern.compile(
            "(?:[a-z0-9](?:[-a-z0-9.]{0,200}[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
    /** The types in core/v1, NodeConditionType, with old ones and those of cloud providers. */
    private static final Set<String> KUBERNETES = Set.of(
            ("ready memorypressure diskpressure pidpressure networkunavailable " + "outofdisk configok kubeletconfigok")
                    .split(" "));

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

    /** Returns the valid part of a name. */
    static String word(String check) {
        String word = check.replaceAll("[^A-Za-z0-9_.-]+", "-");
        if (word.length() > LONGEST) {
            word = word.substring(0, LONGEST);
        }
        word = word.replaceAll("^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "");
        return word.isEmpty() ? "unnamed" : word;
    }

    /** Returns the name of the check in a type, for reasons. */
    public static String check(String type) {
        return type.startsWith(PREFIX) ? type.substring(PREFIX.length()) : type;
    }
}
