package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The resources of attempts in progress whose template is no longer configured. No watch delivers them, and their end is unknown,
 * since the template names its condition. Each is in progress until it is deleted, or its template is configured again.
 */
record UnwatchedResources(KubeClient api) {

    /**
     * Returns the resources that exist. One that this program may not read counts as existing. Blocks for the API server.
     *
     * @throws ApiException if the API server gives no answer
     */
    List<MaintenanceResource> read(CachedNode node, List<Repair> attempts) throws ApiException, InterruptedException {
        List<MaintenanceResource> there = new ArrayList<>();
        for (Repair repair : attempts) {
            ResourceKind kind = repair.group().kind().resources();
            try {
                Optional<Map<String, Object>> found = api.find(kind.path(repair.resource()));
                if (found.filter(tree -> RepairRequests.isOf(node, tree)).isPresent()) {
                    there.add(resource(node, repair, ""));
                }
            } catch (ApiException e) {
                if (!e.forbidden()) {
                    throw e;
                }
                there.add(resource(node, repair, "this program may not read it: " + e.answer()));
            }
        }
        return there;
    }

    /**
     * Returns the reason for which a node must not return to service; empty without one. A record that cannot be read is a reason.
     * Blocks for the API server.
     */
    Optional<String> inProgress(CachedNode node, RepairTemplates templates) throws ApiException, InterruptedException {
        List<Repair> attempts;
        try {
            attempts = RepairAnnotations.of(node).unconfigured(templates);
        } catch (IOException e) {
            return Optional.of("its maintenance is unknown: " + e.getMessage());
        }
        return read(node, attempts).stream().findFirst().map(UnwatchedResources::text);
    }

    static String text(MaintenanceResource resource) {
        return resource.kind().resources().kind() + " " + resource.name()
                + (resource.why().isEmpty() ? " is in progress" : ": its state is unknown, " + resource.why())
                + ", and its template is no longer configured";
    }

    /** @param why reason why its state is unknown; empty if it exists */
    static MaintenanceResource resource(CachedNode node, Repair repair, String why) {
        return new MaintenanceResource(
                repair.group().kind(),
                repair.resource(),
                node.name(),
                node.uid(),
                Set.of(),
                List.of(),
                true,
                Optional.empty(),
                false,
                "",
                why);
    }
}
