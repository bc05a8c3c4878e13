package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.quarantine.QuarantineReasons.Explanation;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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

    /** The labels that name the program that cordoned or uncordoned a node, as NVSentinel writes them, for its dashboards. */
    static final class CordonLabels {

        private static final String PREFIX = "k8saas.nvidia.com/";
        private static final String CORDON_BY = PREFIX + "cordon-by";
        private static final String CORDON_REASON = PREFIX + "cordon-reason";
        private static final String CORDON_TIME = PREFIX + "cordon-timestamp";
        private static final String UNCORDON_BY = PREFIX + "uncordon-by";
        private static final String UNCORDON_TIME = PREFIX + "uncordon-timestamp";
        private static final List<String> OF_CORDON = List.of(CORDON_BY, CORDON_REASON, CORDON_TIME);

        private static final Optional<String> US = Optional.of("gpuwarden");
        /** A time format without colons, which label values must not contain. */
        private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                        "uuuu-MM-dd'T'HH-mm-ss'Z'", Locale.ROOT)
                .withZone(ZoneOffset.UTC);

        private static final int LONGEST = 63;

        private CordonLabels() {}

        static void cordoned(NodePatch patch, QuarantineReasons held, Instant now) {
            patch.label(CORDON_BY, US);
            patch.label(CORDON_REASON, Optional.of(value(String.join("_", Explanation.names(held.met())))));
            patch.label(CORDON_TIME, Optional.of(TIME.format(now)));
            patch.label(UNCORDON_BY, Optional.empty());
            patch.label(UNCORDON_TIME, Optional.empty());
        }

        static void gone(NodePatch patch) {
            OF_CORDON.forEach(label -> patch.label(label, Optional.empty()));
        }

        /** Removes the labels that remain of a former cordon by this program. */
        static void forgotten(NodePatch patch, CachedNode node) {
            if (US.get().equals(node.labels().get(UNCORDON_BY))) {
                patch.label(UNCORDON_BY, Optional.empty());
                patch.label(UNCORDON_TIME, Optional.empty());
            }
        }

        static void uncordoned(NodePatch patch, Instant now) {
            patch.label(UNCORDON_BY, US);
            patch.label(UNCORDON_TIME, Optional.of(TIME.format(now)));
        }

        /** Returns the time of the cordon; empty without a readable label. */
        static Optional<Instant> since(CachedNode node) {
            try {
                return Optional.ofNullable(node.labels().get(CORDON_TIME)).map(text -> TIME.parse(text, Instant::from));
            } catch (DateTimeException e) {
                return Optional.empty();
            }
        }

        private static String value(String text) {
            String value = text.replaceAll("[^A-Za-z0-9_.-]+", "-");
            value = Text.head(value, LONGEST);
            return value.replaceAll("^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "");
        }
    }
}
