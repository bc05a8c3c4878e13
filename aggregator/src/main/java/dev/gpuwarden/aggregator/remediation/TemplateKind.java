package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The kind of the resources of a user's template. A template whose kind has changed is another one. */
record TemplateKind(String template, ResourceKind resources) implements RepairKind {

    /** Returns the form in which a Node records it, beside the name of the kind. */
    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", template);
        tree.put("apiGroup", resources.group());
        tree.put("version", resources.version());
        tree.put("resource", resources.plural());
        resources.namespace().ifPresent(namespace -> tree.put("namespace", namespace));
        return tree;
    }

    /** @throws IOException if the tree has another form */
    static TemplateKind read(String kind, Map<String, Object> tree) throws IOException {
        String name = JsonTrees.text(tree, "name");
        if (name.isEmpty()) {
            throw new IOException("expected the name of a template, found none");
        }
        return new TemplateKind(
                name,
                new ResourceKind(
                        JsonTrees.text(tree, "apiGroup"),
                        JsonTrees.text(tree, "version"),
                        JsonTrees.text(tree, "resource"),
                        kind,
                        Optional.of(JsonTrees.text(tree, "namespace")).filter(namespace -> !namespace.isEmpty()),
                        Optional.empty()));
    }
}
