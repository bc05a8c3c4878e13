package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.JsonTrees;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * A builder of one JSON patch (RFC 6902) with all changes of a Node. The patch applies to exactly the version that was read. A
 * merge or an apply would replace the whole list of taints, or remove fields of other writers.
 */
public final class NodePatch {

    /** The paths of the maps that the patch creates if a Node has none. */
    static final Set<String> ROOM = Set.of("/metadata/annotations", "/metadata/labels");

    private final CachedNode node;
    private final Map<String, Optional<String>> annotations = new TreeMap<>();
    private final Map<String, Optional<String>> labels = new TreeMap<>();
    private List<Map<String, Object>> taints;
    private boolean unschedulable;

    public NodePatch(CachedNode node) {
        this.node = node;
        this.taints = node.taints();
        this.unschedulable = node.unschedulable();
    }

    public void annotate(String name, Optional<String> value) {
        annotations.put(name, value);
    }

    public void label(String name, Optional<String> value) {
        labels.put(name, value);
    }

    void unschedulable(boolean value) {
        unschedulable = value;
    }

    /** Removes one taint. The other taints stay unchanged, fields included that this program does not use. */
    void removeTaint(dev.gpuwarden.aggregator.cache.CachedNode.Taint taint) {
        taints = taints.stream()
                .filter(there -> !CachedNode.taint(there).equals(taint))
                .toList();
    }

    void addTaint(dev.gpuwarden.aggregator.cache.CachedNode.Taint taint) {
        if (taints.stream().noneMatch(there -> CachedNode.taint(there).equals(taint))) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("key", taint.key());
            if (!taint.value().isEmpty()) {
                tree.put("value", taint.value());
            }
            tree.put("effect", taint.effect());
            List<Map<String, Object>> more = new ArrayList<>(taints);
            more.add(tree);
            taints = more;
        }
    }

    /** Returns the patch; empty if nothing must change. */
    public List<Map<String, Object>> operations() {
        return operations(Map.of("/metadata/resourceVersion", node.resourceVersion()));
    }

    /**
     * Returns the patch for any version in which the given values hold; empty if nothing must change.
     *
     * @param tests the expected values by their JSON pointers
     */
    public List<Map<String, Object>> operations(Map<String, Object> tests) {
        List<Map<String, Object>> changes = new ArrayList<>();
        texts(changes, "annotations", node.annotations(), annotations);
        texts(changes, "labels", node.labels(), labels);
        if (!taints.equals(node.taints())) {
            changes.add(
                    taints.isEmpty()
                            ? operation("remove", "/spec/taints", Optional.empty())
                            : operation("add", "/spec/taints", Optional.of(taints)));
        }
        if (unschedulable != node.unschedulable()) {
            changes.add(
                    unschedulable
                            ? operation("add", "/spec/unschedulable", Optional.of(true))
                            : operation("remove", "/spec/unschedulable", Optional.empty()));
        }
        if (!changes.isEmpty()) {
            changes.add(0, operation("test", "/metadata/uid", Optional.of(node.uid())));
            new TreeMap<>(tests).forEach((path, value) -> changes.add(0, operation("test", path, Optional.of(value))));
        }
        return changes;
    }

    private void texts(
            List<Map<String, Object>> changes,
            String field,
            Map<String, String> there,
            Map<String, Optional<String>> wanted) {
        boolean missing = !JsonTrees.object(node.tree(), "metadata").containsKey(field);
        for (Map.Entry<String, Optional<String>> want : wanted.entrySet()) {
            Optional<String> is = Optional.ofNullable(there.get(want.getKey()));
            if (is.equals(want.getValue())) {
                continue;
            }
            if (missing) {
                changes.add(operation("add", "/metadata/" + field, Optional.of(Map.of())));
                missing = false;
            }
            String path = pointer(field, want.getKey());
            changes.add(
                    want.getValue().isPresent()
                            ? operation("add", path, Optional.of(want.getValue().get()))
                            : operation("remove", path, Optional.empty()));
        }
    }

    private static String pointer(String field, String name) {
        return "/metadata/" + field + "/" + name.replace("~", "~0").replace("/", "~1");
    }

    /** Returns the JSON pointer of an annotation. */
    public static String annotation(String name) {
        return pointer("annotations", name);
    }

    private static Map<String, Object> operation(String name, String path, Optional<Object> value) {
        Map<String, Object> operation = new LinkedHashMap<>();
        operation.put("op", name);
        operation.put("path", path);
        value.ifPresent(present -> operation.put("value", present));
        return operation;
    }
}
