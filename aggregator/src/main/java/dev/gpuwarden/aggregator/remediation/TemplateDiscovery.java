package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The check that the API server has the kinds of templates. A kind that it lacks would stop all repairs. Blocks. */
public final class TemplateDiscovery {

    private TemplateDiscovery() {}

    /** Returns an error for each template whose kind the API server does not have in this form. */
    public static List<String> wrong(KubeClient api, RepairTemplates templates)
            throws ApiException, InterruptedException {
        List<String> wrong = new ArrayList<>();
        for (RepairTemplate template : templates.all()) {
            ResourceKind kind = template.kind().resources();
            Optional<String> problem = problem(kind, resources(api, kind));
            problem.ifPresent(text -> wrong.add("--remediation.templates: template " + template.name() + ": " + text));
        }
        return wrong;
    }

    private static List<Map<String, Object>> resources(KubeClient api, ResourceKind kind)
            throws ApiException, InterruptedException {
        return api.find((kind.group().isEmpty() ? "/api/" : "/apis/") + kind.apiVersion())
                .map(list -> JsonTrees.objects(list, "resources"))
                .orElse(List.of());
    }

    private static Optional<String> problem(ResourceKind kind, List<Map<String, Object>> resources) {
        Optional<Map<String, Object>> found = resources.stream()
                .filter(each -> JsonTrees.text(each, "name").equals(kind.plural()))
                .findFirst();
        if (found.isEmpty() || !JsonTrees.text(found.get(), "kind").equals(kind.kind())) {
            return Optional.of("expected the kind " + kind.kind() + " with the plural " + kind.plural() + " in "
                    + kind.apiVersion() + ", but the API server has "
                    + found.map(each -> "the kind " + JsonTrees.text(each, "kind") + " there")
                            .orElse("no such resource: apply its definition"));
        }
        boolean namespaced = JsonTrees.isTrue(found.get(), "namespaced");
        if (namespaced == kind.namespace().isPresent()) {
            return Optional.empty();
        }
        return Optional.of("expected object.metadata " + (namespaced ? "with" : "without") + " a namespace, since "
                + kind.plural() + " are " + (namespaced ? "in namespaces" : "of the whole cluster"));
    }
}
