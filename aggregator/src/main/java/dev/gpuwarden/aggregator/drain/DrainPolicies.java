package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.drain.DrainState.Refusal;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The rules by which pods leave a node.
 *
 * @param pods rules by labels, evaluated first; the first rule that matches a pod decides
 * @param namespaces rules by namespace; of the rules that match, the mode that comes first in {@link DrainMode} decides. Pods
 *     that match none stay
 * @param system namespaces whose pods stay
 * @param grace time from the request to end until the containers are killed; empty for each pod's own grace period
 * @param timeout time after which {@link DrainMode#DELETE_AFTER_TIMEOUT} deletes
 * @param notReady time after which pods that are not ready stay: they do no work, and their kubelet may not answer
 * @param notice longest time for a pod to save its work; zero if no pod gets a signal
 * @param emptyDir true if pods are evicted although they lose an emptyDir
 * @param unmanaged true if pods are evicted although no controller starts them again
 */
public record DrainPolicies(
        List<PodRule> pods,
        List<NamespaceRule> namespaces,
        SystemNamespaces system,
        Optional<Duration> grace,
        Duration timeout,
        Duration notReady,
        Duration notice,
        boolean emptyDir,
        boolean unmanaged) {

    public static final DrainPolicies DEFAULT = new DrainPolicies(
            List.of(),
            List.of(new NamespaceRule(new Glob("*"), DrainMode.ALLOW_COMPLETION)),
            SystemNamespaces.of(SystemNamespaces.USUAL),
            Optional.empty(),
            Duration.ofMinutes(60),
            Duration.ofMinutes(5),
            Duration.ofHours(1),
            false,
            false);

    /** A pattern of names: `*` matches any number of letters, `?` matches one, others match themselves. */
    public record Glob(String text) {
        boolean matches(String name) {
            StringBuilder pattern = new StringBuilder();
            for (char letter : text.toCharArray()) {
                pattern.append(letter == '*' ? ".*" : letter == '?' ? "." : Pattern.quote(String.valueOf(letter)));
            }
            return name.matches(pattern.toString());
        }
    }

    public record NamespaceRule(Glob namespace, DrainMode mode) {}

    /** @param namespace pattern of namespaces; empty for any */
    public record PodRule(NodeSelector selector, Optional<Glob> namespace, DrainMode mode) {}

    public DrainPolicies {
        pods = List.copyOf(pods);
        namespaces = List.copyOf(namespaces);
    }

    /** Returns true if any rule has this mode. */
    public boolean uses(DrainMode mode) {
        return pods.stream().anyMatch(rule -> rule.mode() == mode)
                || namespaces.stream().anyMatch(rule -> rule.mode() == mode);
    }

    /** Returns the mode of a pod; empty if no rule matches. */
    Optional<DrainMode> mode(PodView pod) {
        Optional<DrainMode> own = pods.stream()
                .filter(rule -> rule.namespace()
                                .map(glob -> glob.matches(pod.namespace()))
                                .orElse(true)
                        && rule.selector().matches(pod.labels()))
                .map(PodRule::mode)
                .findFirst();
        return own.isPresent()
                ? own
                : namespaces.stream()
                        .filter(rule -> rule.namespace().matches(pod.namespace()))
                        .map(NamespaceRule::mode)
                        .min(DrainMode::compareTo);
    }

    /** The way in which a pod leaves a node. If several namespace rules match, the first mode in this order decides. */
    public enum DrainMode {
        /** The pod is evicted immediately. */
        IMMEDIATE("Immediate"),
        /** The pod may end by itself until its time is over. It is deleted then, whatever its budget permits. */
        DELETE_AFTER_TIMEOUT("DeleteAfterTimeout"),
        /** The pod ends by itself, however long that takes. */
        ALLOW_COMPLETION("AllowCompletion");

        private final String label;

        DrainMode(String label) {
            this.label = label;
        }

        /** Returns the name of the mode in settings. */
        public String label() {
            return label;
        }
    }

    /**
     * A parser of rules in settings: {@code team-*=Immediate}, and {@code app=training,tier!=test;DeleteAfterTimeout;team-*}.
     */
    public static final class Parser {

        private static final Pattern GLOB = Pattern.compile("[a-z0-9*?-]{1,63}");
        private static final int MOST_PARTS = 3;

        private Parser() {}

        /** @throws IllegalArgumentException with the expected form and the text found */
        public static NamespaceRule namespace(String text) {
            int equal = text.indexOf('=');
            if (equal < 0) {
                throw new IllegalArgumentException(
                        "expected NAMESPACE=MODE as in team-*=Immediate, found \"" + text + "\"");
            }
            return new NamespaceRule(glob(text.substring(0, equal)), mode(text.substring(equal + 1)));
        }

        /**
         * Returns the rules of a list that was split at each comma, as settings are. Commas within a selector belong to it.
         *
         * @throws IllegalArgumentException with the expected form and the text found
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
            Optional<Glob> namespace =
                    parts.length < MOST_PARTS ? Optional.empty() : Optional.of(glob(parts[2].strip()));
            return new PodRule(NodeSelector.parse(parts[0].strip()), namespace, mode(parts[1].strip()));
        }

        private static String expected(String text) {
            return "expected SELECTOR;MODE or SELECTOR;MODE;NAMESPACE as in app=training;Immediate;team-*, found \""
                    + text + "\"";
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

    /**
     * The time limits of a drain.
     *
     * @param holders limit for a daemon to report the holders of its GPUs
     * @param signal limit for a node to confirm that it has sent a signal
     * @param retry pause after the first refusal of a pod, see {@link Refusal}
     * @param quiet pause after a write of the Node until the next write if pods have only left
     */
    public record DrainTimes(Duration holders, Duration signal, Duration retry, Duration quiet) {

        public static final DrainTimes DEFAULT = new DrainTimes(
                Duration.ofSeconds(15), Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(10));
    }
}
