package dev.gpuwarden.runner.jvm;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClasspathRoots;
import static org.junit.platform.launcher.TagFilter.excludeTags;
import static org.junit.platform.launcher.TagFilter.includeTags;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.MethodFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;

/**
 * The selection of a module's tests.
 *
 * @param tiers the tests of these tiers; empty means each but those on demand
 * @param names of classes with their packages, as in `a.b.CTest` or `a.b.CTest#method`; empty means all classes
 */
public record Selection(Set<Tier> tiers, List<String> names) {

    /** Returns this selection as arguments of {@link TestMain}. */
    public List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        arguments.add(String.join(",", tiers.stream().map(Tier::tag).toList()));
        arguments.addAll(names);
        return arguments;
    }

    /** Reads the third argument and those after it. */
    static Selection parse(String[] arguments) {
        Set<Tier> tiers = Set.of();
        if (!arguments[2].isEmpty()) {
            tiers = Set.copyOf(List.of(arguments[2].split(",")).stream()
                    .map(tag -> Tier.named(tag).orElseThrow())
                    .toList());
        }
        return new Selection(tiers, List.of(arguments).subList(3, arguments.length));
    }

    /** Returns a request for all tests of the module, to list them. */
    LauncherDiscoveryRequest all(Path testClasses) {
        return builder(testClasses).build();
    }

    /** Returns the request for the selected tests. */
    LauncherDiscoveryRequest request(Path testClasses) {
        LauncherDiscoveryRequestBuilder builder = builder(testClasses);
        if (tiers.isEmpty()) {
            if (names.isEmpty()) {
                builder.filters(excludeTags(Tier.SOAK.tag(), Tier.GPU.tag()));
            }
        } else if (tiers.contains(Tier.UNIT)) {
            builder.filters(excludeTags(Tier.tags().stream()
                    .filter(tag -> !tiers.contains(Tier.named(tag).orElseThrow()))
                    .toList()));
        } else {
            builder.filters(includeTags(tiers.stream().map(Tier::tag).toList()));
            if (!tiers.contains(Tier.SOAK)) {
                builder.filters(excludeTags(Tier.SOAK.tag(), Tier.GPU.tag()));
            }
        }
        return builder.build();
    }

    private LauncherDiscoveryRequestBuilder builder(Path testClasses) {
        LauncherDiscoveryRequestBuilder builder = LauncherDiscoveryRequestBuilder.request();
        if (names.isEmpty()) {
            return builder.selectors(selectClasspathRoots(Set.of(testClasses)))
                    .filters(ClassNameFilter.includeClassNamePatterns(".*Test"));
        }
        for (String name : names) {
            int method = name.indexOf('#');
            builder.selectors(DiscoverySelectors.selectClass(method < 0 ? name : name.substring(0, method)));
            if (method >= 0) {
                builder.filters(
                        MethodFilter.includeMethodNamePatterns(".*[.#]\\Q" + name.substring(method + 1) + "\\E"));
            }
        }
        return builder;
    }
}
