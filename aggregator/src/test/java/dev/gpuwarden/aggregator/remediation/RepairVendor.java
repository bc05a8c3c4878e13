package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;

/** The templates of one random sequence, their resources in the cluster, and the lock of the node. */
final class RepairVendor {

    private static final Map<Choice, RepairTemplate> PARSED = new HashMap<>();
    /** The holder of the lock for a reset or a reboot. */
    static final String JANITOR = "janitor";

    private static final Instant NEVER = Instant.EPOCH;
    private static final List<String> DRAINS = List.of("all", "gpu", "none");

    /** A template of the file. Its resources are tickets, or cases. */
    private record Choice(String name, Map<String, String> actions, String drain, boolean operator, boolean cases) {

        ModelTemplates.Template forModel() {
            return new ModelTemplates.Template(
                    cases ? name + "@cases" : name, Set.copyOf(actions.keySet()), drain, operator);
        }

        private String text() {
            String text = TestTemplates.one(
                    name,
                    String.join(", ", actions.values()),
                    "drain: " + drain,
                    "after: " + (operator ? "operator" : "report"));
            return cases ? text.replace("tickets", "cases").replace("kind: Ticket", "kind: Case") : text;
        }

        RepairTemplate forProgram() {
            return PARSED.computeIfAbsent(
                    this,
                    one -> TemplateFile.parse("test", "templates:\n" + one.text())
                            .all()
                            .get(0));
        }

        Choice withOtherKind() {
            return new Choice(name, actions, drain, operator, !cases);
        }
    }

    /** The resource for which the lock is held; empty if it is free. */
    String lease = "";

    private final Random random;
    private final Map<String, Map<String, Object>> trees = new HashMap<>();
    private final Map<RepairKind, RepairTemplate> ever = new HashMap<>();
    private List<Choice> file = List.of();
    private List<Choice> before = List.of();

    RepairVendor(Random random) {
        this.random = random;
        if (random.nextBoolean()) {
            use(all());
        }
    }

    ModelTemplates chosen() {
        return new ModelTemplates(file.stream().map(Choice::forModel).toList());
    }

    RepairTemplates templates() {
        return new RepairTemplates(file.stream().map(Choice::forProgram).toList());
    }

    private void use(List<Choice> other) {
        before = file;
        file = other;
        templates().all().forEach(each -> ever.put(each.kind(), each));
    }

    /** The operator writes another file, returns to the one before, removes a template, or changes the kinds of resources. */
    void change() {
        int change = random.nextInt(4);
        if (change == 0) {
            use(all());
        } else if (change == 1 || file.isEmpty()) {
            use(before);
        } else if (change == 2) {
            List<Choice> rest = new ArrayList<>(file);
            rest.remove(random.nextInt(rest.size()));
            use(rest);
        } else {
            use(file.stream().map(Choice::withOtherKind).toList());
        }
    }

    private List<Choice> all() {
        List<Choice> all = new ArrayList<>();
        if (random.nextInt(4) == 0) {
            add(all, "ticket", Map.of("support", "CONTACT_SUPPORT", "fix", "\"CUSTOM:fix\""), any());
        } else {
            add(all, "ticket", Map.of("support", "CONTACT_SUPPORT"), any());
            add(all, "fix", Map.of("fix", "\"CUSTOM:fix\""), any());
        }
        add(all, "vendor", Map.of("reset", "COMPONENT_RESET"), any());
        add(all, "boot", Map.of("restart", "RESTART_VM, RESTART_BM"), "all");
        return all;
    }

    private String any() {
        return DRAINS.get(random.nextInt(DRAINS.size()));
    }

    private void add(List<Choice> all, String name, Map<String, String> actions, String drain) {
        boolean operator = random.nextInt(3) == 0;
        // Other templates and this program's own actions are mixed.
        if (random.nextBoolean()) {
            all.add(new Choice(name, actions, drain, operator, random.nextInt(4) == 0));
        }
    }

    /** Returns the name of a group as the model has it, with UUIDs. */
    static String name(RepairGroup group) {
        return group.kind() instanceof TemplateKind kind
                        && kind.resources().plural().equals("cases")
                ? group.name().replaceFirst("^" + kind.template(), kind.template() + "@cases")
                : group.name();
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
        RepairTemplate template = templates().of(repair.group()).orElseThrow();
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
        return Objects.requireNonNull(ever.get(resource.kind())).read(tree).orElseThrow();
    }
}
