package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.drain.DrainState.Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * How which pods leave.
 *
 * @param pods asked first; of those that fit a pod, the first holds
 * @param namespaces of those that fit, the mode that comes first in {@link DrainMode} holds; pods that none fits stay
 * @param system namespaces whose pods stay
 * @param grace how long containers have from being told to end until they are killed; empty for what each pod says itself
 * @param timeout after which {@link DrainMode#DELETE_AFTER_TIMEOUT} deletes
 * @param notReady pods that have not been ready for so long stay: they do no work, and may never answer
 * @param notice the longest that a pod may take to save its work before it goes; zero where none is told
 * @param emptyDir whether pods go whose files go with them
 * @param unmanaged whether pods go that nobody starts again
 */
public record DrainPolicies(
        List<PodRule> pods,
        List<NamespaceRule> namespaces,
        Pattern system,
        Optional<Duration> grace,
        Duration timeout,
        Duration notReady,
        Duration notice,
        boolean emptyDir,
        boolean unmanaged) {

    public static final String SYSTEM =
            "^(nvsentinel|gpuwarden|kube-system|gpu-operator|gmp-system|network-operator|skyhook)$";

    public static final DrainPolicies DEFAULT = new DrainPolicies(
            List.of(),
            List.of(new NamespaceRule(new Glob("*"), DrainMode.ALLOW_COMPLETION)),
            Pattern.compile(SYSTEM),
            Optional.empty(),
            Duration.ofMinutes(60),
            Duration.ofMinutes(5),
            Duration.ofHours(1),
            false,
            false);

    /** Letters that stand for themselves, `*` for any number of them, `?` for one. */
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

    /** @param namespace empty for any */
    public record PodRule(NodeSelector selector, Optional<Glob> namespace, DrainMode mode) {}

    public DrainPolicies {
        pods = List.copyOf(pods);
        namespaces = List.copyOf(namespaces);
    }

    /** Whether any rule has this mode. */
    public boolean uses(DrainMode mode) {
        return pods.stream().anyMatch(rule -> rule.mode() == mode)
                || namespaces.stream().anyMatch(rule -> rule.mode() == mode);
    }

    boolean isSystem(String namespace) {
        return system.matcher(namespace).find();
    }

    /** Empty where no rule fits. */
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

    /** How a pod leaves a node; of several that fit, the first here holds. */
    public enum DrainMode {
        /** It is evicted at once. */
        IMMEDIATE("Immediate"),
        /** It may end by itself until its time is over, and is deleted then, whatever its budget says. */
        DELETE_AFTER_TIMEOUT("DeleteAfterTimeout"),
        /** It ends by itself, however long that takes. */
        ALLOW_COMPLETION("AllowCompletion");

        private final String label;

        DrainMode(String label) {
            this.label = label;
        }

        /** As people write it. */
        public String label() {
            return label;
        }
    }

    /** Rules as people write them: {@code team-*=Immediate}, and {@code app=training,tier!=test;DeleteAfterTimeout;team-*}. */
    public static final class Parser {

        private static final Pattern GLOB = Pattern.compile("[a-z0-9*?-]{1,63}");
        private static final int MOST_PARTS = 3;

        private Parser() {}

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
     * How long a drain waits for others.
     *
     * @param holders for a daemon to answer who holds its GPUs
     * @param signal for a node to answer that it has sent a signal
     * @param retry after a pod was refused first, see {@link Refusal}
     * @param quiet after a write on the Node, until what has only become less is written
     */
    public record DrainTimes(Duration holders, Duration signal, Duration retry, Duration quiet) {

        public static final DrainTimes DEFAULT = new DrainTimes(
                Duration.ofSeconds(15), Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(10));
    }
}
