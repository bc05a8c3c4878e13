package dev.gpuwarden.aggregator.pods;

import java.util.regex.Pattern;

/**
 * The namespaces whose pods stay on a node that is drained, reset or rebooted, unless they hold one of its GPUs. Drains and the
 * janitor have the same. Pure.
 *
 * @param pattern found anywhere in the name, unless it has anchors
 */
public record SystemNamespaces(Pattern pattern) {

    public static final String USUAL =
            "^(nvsentinel|gpuwarden|kube-system|gpu-operator|gmp-system|network-operator|skyhook)$";

    /** @throws java.util.regex.PatternSyntaxException if it is no regular expression */
    public static SystemNamespaces of(String regex) {
        return new SystemNamespaces(Pattern.compile(regex));
    }

    public boolean has(String namespace) {
        return pattern.matcher(namespace).find();
    }
}
