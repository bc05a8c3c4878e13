package dev.gpuwarden.aggregator.remediation;

import static dev.gpuwarden.aggregator.remediation.RepairScene.GPU_A;
import static dev.gpuwarden.aggregator.remediation.RepairScene.GPU_B;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.aggregator.remediation.RepairDecision.Kind;
import dev.gpuwarden.aggregator.remediation.RepairFacts.DrainStanding;
import dev.gpuwarden.aggregator.remediation.RepairFacts.Policy;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The rules of users' templates among those of this program's own actions. */
class TemplateDecisionTest {

    private final RepairScene scene = new RepairScene();

    private RepairKind use(String actions, String... more) {
        RepairTemplates templates = TestTemplates.ticket("ticket", actions, more);
        scene.policy = new Policy(true, false, 2, Policy.DEFAULT.memory(), Policy.DEFAULT.settle(), templates);
        return templates.all().get(0).kind();
    }

    @Test
    void templateIsMadeOnceAndItsEndIsRecorded() {
        RepairKind ticket = use("CONTACT_SUPPORT");
        scene.fault(RecommendedAction.CONTACT_SUPPORT, "Xid", GPU_A);
        assertThat(scene.act()).containsExactly("ticket");
        assertThat(scene.act()).isEmpty();
        scene.later(10).end(ticket, true);
        assertThat(scene.decide().kind()).as("time to report").isEqualTo(Kind.WAIT);
        scene.later(600);
        assertThat(scene.act()).as("it did not help").containsExactly("ticket");
        scene.later(10).end(ticket, true);
        scene.later(600);
        assertThat(scene.decide().why())
                .isEqualTo("Xid 48: repair the node by hand: the template ticket did not help 2 times");
    }

    @Test
    void failureIsOfAnOperator() {
        RepairKind ticket = use("CONTACT_SUPPORT");
        scene.fault(RecommendedAction.CONTACT_SUPPORT, "Xid", GPU_A);
        assertThat(scene.act()).hasSize(1);
        scene.later(10).end(ticket, false);
        RepairDecision decision = scene.decide();
        assertThat(decision.kind()).isEqualTo(Kind.PERSON);
        assertThat(decision.why()).contains("repair the node by hand: the template ticket", "failed: ");
    }

    @Test
    void successCanAwaitAnOperator() {
        RepairKind ticket = use("CONTACT_SUPPORT", "after: operator");
        scene.fault(RecommendedAction.CONTACT_SUPPORT, "Xid", GPU_A);
        assertThat(scene.act()).hasSize(1);
        scene.later(10).end(ticket, true);
        assertThat(scene.decide().kind()).isEqualTo(Kind.PERSON);
        assertThat(scene.later(3600).decide().why()).contains("check and release the node: the template ticket (");
    }

    @Test
    void aGpuWhoseUnitMayBeMissingInACutListIsLeftToAnOperator() {
        use("COMPONENT_RESET", "drain: gpu");
        scene.gpus = TestGpus.cut(TestGpus.units(List.of(GPU_A)));
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_B);
        assertThat(scene.act()).isEmpty();
        assertThat(scene.decide().why()).contains("status.unlistedGpuCount");
        use("COMPONENT_RESET");
        assertThat(scene.act()).as("after a drain of all pods").containsExactly("ticket");
    }

    @Test
    void nothingElseBeginsWhileATemplateIsInProgress() {
        RepairKind ticket = use("CONTACT_SUPPORT");
        scene.fault(RecommendedAction.CONTACT_SUPPORT, "Xid", GPU_A);
        Repair made = scene.decide().create().get(0);
        scene.fault(RecommendedAction.COMPONENT_RESET, "Ecc", GPU_B).fault(RecommendedAction.RESTART_BM, "Bus", GPU_B);
        assertThat(scene.decide().create()).as("recorded, not made").containsExactly(made);
        scene.make(made);
        assertThat(scene.act()).isEmpty();
        scene.record = RepairRecord.NONE;
        assertThat(scene.act()).as("of an earlier quarantine").isEmpty();
        scene.end(ticket, true);
        assertThat(scene.act()).containsExactly("restart");
    }

    @Test
    void templateWaitsForOtherActions() {
        use("CONTACT_SUPPORT");
        scene.fault(RecommendedAction.COMPONENT_RESET, "Ecc", GPU_B);
        assertThat(scene.act()).hasSize(1);
        scene.later(1).fault(RecommendedAction.CONTACT_SUPPORT, "Xid", GPU_A);
        assertThat(scene.act()).isEmpty();
        scene.byHand(MaintenanceKind.TERMINATE_NODE, "end");
        scene.later(1).end(MaintenanceKind.GPU_RESET, true);
        assertThat(scene.act()).isEmpty();
        scene.later(1).end(MaintenanceKind.TERMINATE_NODE, true);
        assertThat(scene.act()).containsExactly("ticket");
    }

    @Test
    void olderRequestGoesFirst() {
        use("CONTACT_SUPPORT");
        scene.fault(RecommendedAction.CONTACT_SUPPORT, "Xid", GPU_A);
        scene.later(1).fault(RecommendedAction.COMPONENT_RESET, "Ecc", GPU_B);
        assertThat(scene.act()).containsExactly("ticket");
    }

    @Test
    void groupOfGpusActsOnEachAfterTheDrainOfItsPods() {
        use("\"CUSTOM:fix\"", "drain: gpu");
        HealthEvent.Builder custom = HealthEvent.of("a", "GPU", "Xid")
                .nodeName("n")
                .fatal(true)
                .action(RecommendedAction.CUSTOM)
                .customAction("fix");
        scene.drain = new DrainStanding(true, false, Set.of(GPU_A));
        for (String gpu : List.of(GPU_A, GPU_B)) {
            scene.fault(custom.entities(List.of(dev.gpuwarden.core.event.Entity.gpu(gpu)))
                    .build());
        }
        assertThat(scene.act()).containsExactly("ticket-" + GPU_A);
        scene.fault(custom.customAction("other").build());
        assertThat(scene.demands())
                .hasSize(3)
                .last()
                .matches(demand -> demand.group().isEmpty());
    }

    @Test
    void drainCoversTheWholeNodeUnlessTheTemplateKeepsPods() {
        use("COMPONENT_RESET");
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        scene.drain = new DrainStanding(true, false, Set.of(GPU_A));
        RepairDecision drain = scene.decide();
        assertThat(drain.kind()).isEqualTo(Kind.DRAIN);
        assertThat(drain.record().drain()).contains("the template ticket acts on the whole node");
        scene.record = RepairRecord.NONE;
        scene.drain = DrainStanding.NONE;
        use("COMPONENT_RESET", "drain: none");
        assertThat(scene.act()).containsExactly("ticket");
    }

    @Test
    void skippedDrainPermitsOnlyTemplatesThatKeepPods() {
        use("COMPONENT_RESET");
        scene.fault(RepairScene.skipping(RecommendedAction.COMPONENT_RESET, GPU_A));
        assertThat(scene.act()).isEmpty();
        use("COMPONENT_RESET", "drain: none");
        assertThat(scene.act()).containsExactly("ticket");
    }

    @Test
    void failedResetLeadsToTheTemplateThatRestarts() {
        RepairKind ticket = use("RESTART_VM, RESTART_BM");
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.act()).containsExactly("reset-" + GPU_A);
        scene.later(10).end(MaintenanceKind.GPU_RESET, false);
        assertThat(scene.act()).containsExactly("ticket");
        scene.later(10).end(ticket, false);
        assertThat(scene.decide().kind()).isEqualTo(Kind.PERSON);
        assertThat(scene.record.history()).hasSize(2);
    }

    @Test
    void recordNamesTheTemplateForTheNextLeader() throws Exception {
        use("CONTACT_SUPPORT");
        scene.fault(RecommendedAction.CONTACT_SUPPORT, "Xid", GPU_A);
        Repair repair = scene.decide().create().get(0);
        assertThat(Repair.read(Json.readObject(Json.write(repair.tree())))).isEqualTo(repair);
        assertThat(JsonTrees.object(repair.tree(), "template").toString())
                .isEqualTo("{name=ticket, apiGroup=example.com, version=v1, resource=tickets}");
    }

    private MaintenanceResource unwatched(Repair repair, String why) {
        return UnwatchedResources.resource(scene.node(), repair, why);
    }

    @Test
    void resourceOfARemovedTemplateIsOfAnOperator() {
        RepairKind ticket = use("COMPONENT_RESET");
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        Repair repair = scene.decide().create().get(0);
        scene.policy = Policy.DEFAULT;
        scene.resources.add(unwatched(repair, ""));
        RepairDecision decision = scene.decide();
        assertThat(decision.kind()).isEqualTo(Kind.PERSON);
        assertThat(decision.why())
                .isEqualTo(
                        "check Ticket " + repair.resource()
                                + ": its template ticket for tickets of example.com/v1 is no"
                                + " longer configured, so its end is unknown: configure the template again, or delete the resource");
        assertThat(decision.again()).contains(scene.now.plusSeconds(60));
        assertThat(decision.record().locking(scene.resources)).containsExactly(repair.resource());
        scene.resources.set(0, unwatched(repair, "this program may not read it: no right"));
        assertThat(scene.decide().why()).contains("unknown, and this program may not read it: no right: configure");
        assertThat(UnwatchedResources.text(unwatched(repair, "")))
                .isEqualTo("Ticket " + repair.resource() + " is in progress, and its template is no longer configured");
        assertThat(UnwatchedResources.text(unwatched(repair, "this program may not read it: no right")))
                .isEqualTo(
                        "Ticket " + repair.resource()
                                + ": its state is unknown, this program may not read it: no right, and its template is no longer configured");

        scene.resources.clear();
        RepairRecord record = scene.record;
        assertThat(scene.act()).as("it was deleted").containsExactly("reset-" + GPU_A);
        scene.record = record;
        scene.resources.clear();
        use("COMPONENT_RESET");
        scene.make(repair);
        assertThat(scene.decide().kind()).as("configured again").isEqualTo(Kind.WAIT);
        scene.later(10).end(ticket, true);
        assertThat(scene.decide().why()).contains("has succeeded, and the node has until");
    }

    @Test
    void recordedAttemptOfARemovedTemplateIsWithdrawn() {
        use("CONTACT_SUPPORT");
        scene.fault(RecommendedAction.CONTACT_SUPPORT, "Xid", GPU_A);
        Repair repair = scene.decide().create().get(0);
        scene.policy = Policy.DEFAULT;
        RepairDecision decision = scene.decide();
        assertThat(decision.why()).isEqualTo("Xid 48: contact the vendor's support");
        assertThat(decision.record().history())
                .containsExactly(
                        repair.ended(decision.record().history().get(0).result().orElseThrow()));
        assertThat(decision.record().history().get(0).withdrawn()).isTrue();
    }

    @Test
    void recordedAttemptWaitsForTheDrainOfItsChangedTemplate() {
        use("COMPONENT_RESET", "drain: none");
        scene.drain = new DrainStanding(true, false, Set.of(GPU_A));
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        String before = scene.decide().create().get(0).resource();
        use("COMPONENT_RESET");
        RepairDecision decision = scene.decide();
        assertThat(decision.kind()).isEqualTo(Kind.DRAIN);
        assertThat(decision.create()).isEmpty();
        scene.drain = new DrainStanding(true, true, Set.of());
        assertThat(scene.decide().create())
                .singleElement()
                .matches(repair -> !repair.resource().equals(before));
    }

    @Test
    void templateWithAnotherKindMakesAnotherAttempt() {
        RepairKind ticket = use("CONTACT_SUPPORT");
        scene.fault(RecommendedAction.CONTACT_SUPPORT, "Xid", GPU_A);
        assertThat(scene.act()).hasSize(1);
        scene.later(10).end(ticket, false);
        RepairTemplates cases = TemplateFile.parse(
                "test",
                "templates:\n"
                        + TestTemplates.one("ticket", "CONTACT_SUPPORT")
                                .replace("tickets", "cases")
                                .replace("kind: Ticket", "kind: Case"));
        scene.policy = new Policy(true, false, 2, Policy.DEFAULT.memory(), Policy.DEFAULT.settle(), cases);
        assertThat(scene.act()).containsExactly("ticket");
        assertThat(scene.record.history())
                .extracting(Repair::resource)
                .hasSize(2)
                .doesNotHaveDuplicates();
    }
}
