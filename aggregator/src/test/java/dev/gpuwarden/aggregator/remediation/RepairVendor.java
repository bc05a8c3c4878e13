package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** The templates of one random sequence, their resources in the cluster, and the lock of the node. */
final class RepairVendor {

    private static final Map<String, RepairTemplates> FILES = new HashMap<>();
    /** The holder of the lock for a reset or a reboot. */
    static final String JANITOR = "janitor";

    private static final Instant NEVER = Instant.EPOCH;
    private static final List<String> DRAINS = List.of("all", "gpu", "none");

    /** The templates as the model has them. */
    final List<RepairModel.Template> chosen = new ArrayList<>();

    final RepairTemplates templates;
    /** The resource for which the lock is held; empty if it is free. */
    String lease = "";

    private final Random random;
    private final Map<String, Map<String, Object>> trees = new HashMap<>();

    RepairVendor(Random random) {
        this.random = random;
        StringBuilder file = new StringBuilder();
        if (random.nextBoolean()) {
            add(file, "ticket", "support", "CONTACT_SUPPORT", any());
            add(file, "fix", "fix", "\"CUSTOM:fix\"", any());
            add(file, "vendor", "reset", "COMPONENT_RESET", any());
            add(file, "boot", "restart", "RESTART_VM, RESTART_BM", "all");
        }
        templates = file.isEmpty()
                ? RepairTemplates.NONE
                : FILES.computeIfAbsent("templates:\n" + file, text -> TemplateFile.parse("test", text));
    }

    private String any() {
        return DRAINS.get(random.nextInt(DRAINS.size()));
    }

    private void add(StringBuilder file, String name, String action, String actions, String drain) {
        boolean operator = random.nextInt(3) == 0;
        // Other templates and this program's own actions are mixed.
        if (random.nextBoolean() || file.isEmpty() && name.equals("boot")) {
            chosen.add(new RepairModel.Template(name, Set.of(action), drain, operator));
            file.append(TestTemplates.one(
                    name, actions, "drain: " + drain, "after: " + (operator ? "operator" : "report")));
        }
    }

    /** Takes the lock like {@link TemplateLock}. */
    boolean take(Repair repair) {
        if (lease.isEmpty()) {
            lease = repair.resource();
        }
        return lease.equals(repair.resource());
    }

    /** Releases the lock like {@link TemplateLock}, whose first list has shown it. */
    void releaseUnlessFor(Set<String> resources) {
        if (!lease.equals(JANITOR) && !resources.contains(lease)) {
            lease = "";
        }
    }

    boolean knows(MaintenanceResource resource) {
        return trees.containsKey(resource.name());
    }

    /** Makes the resource of an attempt, and returns it as the program reads it. */
    MaintenanceResource make(CachedNode node, Repair repair, List<Demand> demands) {
        RepairTemplate template = templates.of(repair.group()).orElseThrow();
        Map<String, Object> tree = new LinkedHashMap<>(
                template.body(node.name(), node.uid(), repair, RepairRequests.values(node, repair, demands)));
        // Conditions of its beginning.
        tree.put("status", Map.of("conditions", List.of(condition("Resolved", "False", NEVER), other())));
        trees.put(repair.resource(), tree);
        return template.read(tree).orElseThrow();
    }

    private static Map<String, Object> condition(String type, String status, Instant at) {
        Map<String, Object> condition = new LinkedHashMap<>(Map.of("type", type, "status", status));
        if (!at.equals(NEVER)) {
            condition.put("lastTransitionTime", at.toString());
        }
        return condition;
    }

    private Map<String, Object> other() {
        return condition(random.nextBoolean() ? "Assigned" : "Rejected-late", "True", NEVER);
    }

    /** Ends a resource by its conditions. Some programs write no time, or one of a clock that differs. */
    MaintenanceResource end(MaintenanceResource resource, boolean good, Instant now) {
        Instant at = List.of(now, now, NEVER, now.plusSeconds(7200), now.minusSeconds(30L * 24 * 3600))
                .get(random.nextInt(5));
        List<Map<String, Object>> conditions = new ArrayList<>(List.of(other()));
        // A failure counts also beside a success.
        if (good || random.nextBoolean()) {
            conditions.add(condition("Resolved", "True", at));
        }
        conditions.add(condition("Rejected", good ? "False" : "True", at));
        Collections.shuffle(conditions, random);
        Map<String, Object> tree = trees.get(resource.name());
        tree.put("status", Map.of("conditions", conditions));
        return templates.all().stream()
                .filter(each -> each.kind().equals(resource.kind()))
                .findFirst()
                .flatMap(each -> each.read(tree))
                .orElseThrow();
    }
}
