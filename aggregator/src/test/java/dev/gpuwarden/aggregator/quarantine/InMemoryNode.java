package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A Node in memory that applies JSON patches and counts versions as the API server does. */
public final class InMemoryNode {

    private Map<String, Object> tree;
    private long version = 1;

    public InMemoryNode(String json) {
        try {
            tree = Json.readObject(json);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        stamp();
    }

    private void stamp() {
        metadata().put("resourceVersion", Long.toString(version++));
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> metadata() {
        return (Map<String, Object>) tree.computeIfAbsent("metadata", any -> new LinkedHashMap<>());
    }

    @SuppressWarnings("unchecked")
    Map<String, Object> spec() {
        return (Map<String, Object>) tree.computeIfAbsent("spec", any -> new LinkedHashMap<>());
    }

    @SuppressWarnings("unchecked")
    public Map<String, Object> texts(String field) {
        return (Map<String, Object>) metadata().computeIfAbsent(field, any -> new LinkedHashMap<>());
    }

    public CachedNode read() {
        try {
            return CachedNode.of(Json.readObject(Json.write(tree)));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Raises the version, as a write by another writer does. */
    public void changed() {
        stamp();
    }

    /** Sets an annotation as another writer, which owns it from now on. */
    public void annotate(String manager, String name, String value) {
        texts("annotations").put(name, value);
        own(manager, name);
    }

    /** Notes the only writer of an annotation that is of interest. */
    public void own(String manager, String name) {
        Map<String, Object> owned = Map.of("f:annotations", Map.of("f:" + name, Map.of()));
        metadata().put("managedFields", List.of(Map.of("manager", manager, "fieldsV1", Map.of("f:metadata", owned))));
        stamp();
    }

    /** Returns an annotation without a copy of the Node; null if it has none of that name. */
    public String annotation(String name) {
        return (String) texts("annotations").get(name);
    }

    /** @throws IllegalStateException where the API server would refuse: a failed test, or a missing path */
    public void apply(List<Map<String, Object>> patch) {
        for (Map<String, Object> operation : patch) {
            apply(operation);
        }
        stamp();
    }

    @SuppressWarnings("unchecked")
    private void apply(Map<String, Object> operation) {
        List<String> path = new ArrayList<>();
        for (String part : JsonTrees.text(operation, "path").substring(1).split("/")) {
            path.add(part.replace("~1", "/").replace("~0", "~"));
        }
        Map<String, Object> parent = tree;
        for (String part : path.subList(0, path.size() - 1)) {
            if (!(parent.get(part) instanceof Map)) {
                throw new IllegalStateException("no " + part + " for " + operation);
            }
            parent = (Map<String, Object>) parent.get(part);
        }
        String last = path.get(path.size() - 1);
        switch (JsonTrees.text(operation, "op")) {
            case "test" -> {
                if (!operation.get("value").equals(parent.get(last))) {
                    throw new IllegalStateException("the test failed: " + operation);
                }
            }
            case "add" -> {
                try {
                    parent.put(last, Json.read(Json.write(operation.get("value"))));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
            case "remove" -> {
                if (parent.remove(last) == null) {
                    throw new IllegalStateException("nothing to remove: " + operation);
                }
            }
            default -> throw new IllegalStateException("unexpected " + operation);
        }
    }
}
