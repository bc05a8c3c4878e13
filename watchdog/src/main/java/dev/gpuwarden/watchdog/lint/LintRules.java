package dev.gpuwarden.watchdog.lint;

import java.util.Map;
import java.util.Optional;

/**
 * The facts that the lint compares budgets with.
 *
 * @param resource name of the extended resource
 * @param largestCardBytes memory for budgets of the largest card; empty where it is not known
 * @param usedBytes measured use of a workload's pod, by namespace and name
 */
public record LintRules(String resource, Optional<Long> largestCardBytes, Map<String, Long> usedBytes) {

    public LintRules {
        usedBytes = Map.copyOf(usedBytes);
    }

    /** Returns the measured use. A manifest without a namespace fits each. */
    Optional<Long> used(Workload workload) {
        return usedBytes.entrySet().stream()
                .filter(entry -> matches(entry.getKey(), workload))
                .map(Map.Entry::getValue)
                .max(Long::compare);
    }

    /** Returns whether this is the namespace and name of the workload. */
    public static boolean matches(String namespaceAndName, Workload workload) {
        return workload.namespace()
                .map(namespace -> namespaceAndName.equals(namespace + "/" + workload.name()))
                .orElseGet(() -> namespaceAndName.endsWith("/" + workload.name()));
    }
}
