package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.breaker.NodeSelector;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

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
}
