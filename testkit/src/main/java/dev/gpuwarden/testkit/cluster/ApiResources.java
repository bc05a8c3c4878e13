package dev.gpuwarden.testkit.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/** The resources of an API server, from its discovery. Immutable. */
record ApiResources(List<Resource> all) {

    static final String ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

    /**
     * A resource.
     *
     * @param base of its path, for example `/apis/apps/v1`
     * @param names that kubectl accepts: plural, singular and short ones, each alone and with its group
     */
    record Resource(String base, String plural, String kind, boolean namespaced, List<String> names) {

        /** Returns the path in a namespace, or in all namespaces for an empty text. */
        String path(String namespace) {
            return base + (namespaced && !namespace.isEmpty() ? "/namespaces/" + namespace : "") + "/" + plural;
        }
    }

    static final ApiResources NONE = new ApiResources(List.of());

    /** @param get returns the tree at a path of discovery */
    static ApiResources discover(Function<String, Object> get) {
        List<Resource> all = new ArrayList<>();
        for (String root : List.of("/api", "/apis")) {
            for (Map<?, ?> group : maps(get.apply(root), "items")) {
                String name = JsonPath.text(group, ".metadata.name");
                for (Map<?, ?> version : maps(group, "versions")) {
                    String base = root + (name.isEmpty() ? "" : "/" + name) + "/" + version.get("version");
                    maps(version, "resources").forEach(found -> all.add(resource(base, name, found)));
                }
            }
        }
        return new ApiResources(List.copyOf(all));
    }

    private static Resource resource(String base, String group, Map<?, ?> found) {
        String plural = JsonPath.text(found, ".resource");
        List<String> names = new ArrayList<>(List.of(plural, JsonPath.text(found, ".singularResource")));
        if (found.get("shortNames") instanceof List<?> more) {
            more.forEach(name -> names.add(String.valueOf(name)));
        }
        if (!group.isEmpty()) {
            names.add(plural + "." + group);
        }
        return new Resource(
                base,
                plural,
                JsonPath.text(found, ".responseKind.kind"),
                JsonPath.text(found, ".scope").equals("Namespaced"),
                List.copyOf(names));
    }

    private static List<Map<?, ?>> maps(Object tree, String name) {
        List<Map<?, ?>> maps = new ArrayList<>();
        if (tree instanceof Map<?, ?> map && map.get(name) instanceof List<?> list) {
            list.forEach(item -> maps.add((Map<?, ?>) item));
        }
        return maps;
    }

    /** Returns the first match in the order of the API server's groups, the core group first; null where there is none. */
    @org.jspecify.annotations.Nullable Resource first(Predicate<Resource> fits) {
        return all.stream().filter(fits).findFirst().orElse(null);
    }
}
