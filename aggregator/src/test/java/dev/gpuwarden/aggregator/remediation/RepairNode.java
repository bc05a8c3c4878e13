package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.quarantine.InMemoryNode;
import dev.gpuwarden.aggregator.quarantine.ManualCordon.Plan;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.HealthEventFields;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.PartNames;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * A Node in quarantine as the API server holds it, whose repair the program decides from the Node each time, as a new leader
 * does. The report, the resources and the clock are those of a scene.
 */
final class RepairNode {

    final RepairScene scene = new RepairScene();
    private final InMemoryNode node =
            new InMemoryNode("{\"metadata\": {\"name\": \"n\", \"uid\": \"u\", \"annotations\": {}, \"labels\": {}},"
                    + " \"spec\": {\"unschedulable\": true}}");
    /** The events of the quarantine. Those of faults that are over stay, as with a quarantine that is late. */
    private final List<HealthEvent> held = new ArrayList<>();

    /** The resources that keep the lock of the node since the last decision. */
    Set<String> locking = Set.of();
    /** The program may not read resources of templates that are no longer configured. */
    boolean unreadable;

    boolean stale;
    Optional<String> breaker = Optional.empty();
    Optional<MaintenanceResource> theirs = Optional.empty();

    private void annotate(String name, String value) {
        node.texts("annotations").put(name, value);
        node.changed();
    }

    void hold(HealthEvent event) {
        held.add(event);
        annotate(
                NodeAnnotations.EVENTS,
                Json.write(held.stream().map(HealthEventFields::of).toList()));
    }

    void drained(boolean done, boolean all, Set<String> gpus) {
        Map<String, Object> drain = new LinkedHashMap<>();
        String at = RepairScene.NOW.toString();
        if (all) {
            drain.put("full", at);
        }
        Map<String, Object> starts = new LinkedHashMap<>();
        gpus.forEach(gpu -> starts.put(gpu, at));
        drain.put("gpus", starts);
        if (done) {
            drain.put("finished", at);
        }
        annotate(NodeAnnotations.DRAIN, Json.write(drain));
    }

    /** Approves what the node waits for, like {@code gpuwarden approve}. */
    boolean approve() {
        Plan plan = RepairApproval.plan(node.read(), "ann");
        node.apply(plan.patch());
        return plan.done();
    }

    void approve(String resource) {
        annotate(NodeAnnotations.REPAIR_APPROVED, resource);
    }

    /** Another program writes NVSentinel's annotation. */
    void takeOver() {
        node.annotate(
                "kubectl",
                NodeAnnotations.REMEDIATION_STATE,
                "{\"equivalenceGroups\": {\"restart\": {\"maintenanceCR\": \"theirs\"}}}");
    }

    /** An operator removes the annotation of the other program. */
    void handBack() {
        node.texts("annotations").remove(NodeAnnotations.REMEDIATION_STATE);
        node.changed();
    }

    /** The node returns to service, and fails again at a later time. */
    void release() {
        NodeAnnotations.OF_SESSION.forEach(node.texts("annotations")::remove);
        node.changed();
        held.clear();
        scene.faults.clear();
    }

    CachedNode read() {
        return node.read();
    }

    RepairFacts facts() throws IOException {
        return facts(node.read());
    }

    private RepairFacts facts(CachedNode read) throws IOException {
        FaultReport report = stale
                ? new FaultReport("n", "u", FaultReport.Standing.STALE, "the node is silent", List.of(), Set.of(), 0)
                : new FaultReport(
                        "n",
                        "u",
                        FaultReport.Standing.TRUSTED,
                        "",
                        scene.faults,
                        Set.of(),
                        PartNames.NONE,
                        0,
                        scene.gpus);
        RepairFacts facts = RepairFacts.of(
                read, report, watched(), RepairObstacle.of(read, report, theirs, breaker), scene.policy, scene.now);
        return facts.and(unwatched(read, facts.record().unconfigured(scene.policy.templates())));
    }

    /** Returns the resources of the kinds that are configured. */
    private List<MaintenanceResource> watched() {
        return scene.resources.stream()
                .filter(each -> each.kind() instanceof MaintenanceKind
                        || scene.policy.templates().of(each.kind()).isPresent())
                .toList();
    }

    /** Reads the other resources of the record's attempts like {@link UnwatchedResources}. */
    private List<MaintenanceResource> unwatched(CachedNode read, List<Repair> attempts) {
        return attempts.stream()
                .filter(repair -> unreadable
                        || scene.resources.stream()
                                .anyMatch(each ->
                                        each.kind().equals(repair.group().kind())
                                                && each.name().equals(repair.resource())))
                .map(repair -> UnwatchedResources.resource(read, repair, ""))
                .toList();
    }

    /** Returns the resources that keep the lock of the node while it is out of quarantine. */
    Set<String> lockingAtRest() {
        return RepairRecord.lockingAtRest(watched());
    }

    /** An operator removes the record of earlier repairs. */
    void forgetAttempts() {
        node.texts("annotations").remove(NodeAnnotations.REPAIRS);
        node.changed();
    }

    /** Decides, and writes the record if the leader is not killed before. */
    RepairDecision decide(boolean killed) throws IOException {
        CachedNode read = node.read();
        RepairFacts facts = facts(read);
        RepairDecision decision = RepairDecision.decide(facts);
        locking = decision.record().locking(facts.resources());
        String before = node.annotation(NodeAnnotations.REMEDIATION_STATE);
        if (!killed) {
            node.apply(decision.patch(read, facts.record()));
        }
        if (!Objects.equals(before, node.annotation(NodeAnnotations.REMEDIATION_STATE))) {
            node.own(RepairAnnotations.MANAGER, NodeAnnotations.REMEDIATION_STATE);
        }
        return decision;
    }
}
