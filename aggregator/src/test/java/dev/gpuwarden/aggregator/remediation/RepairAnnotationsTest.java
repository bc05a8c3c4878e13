package dev.gpuwarden.aggregator.remediation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.quarantine.InMemoryNode;
import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import dev.gpuwarden.aggregator.remediation.Repair.Result;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import java.io.IOException;
import java.time.Instant;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RepairAnnotationsTest {

    private static final Instant NOW = Instant.parse("2026-11-28T01:00:00Z");

    private final InMemoryNode node =
            new InMemoryNode("{\"metadata\": {\"name\": \"n\", \"uid\": \"u\", \"annotations\": {}, \"labels\": {}},"
                    + " \"spec\": {\"unschedulable\": true}}");

    private static Repair attempt(String resource) {
        return attempt(resource, RepairGroup.RESTART);
    }

    private static Repair attempt(String resource, RepairGroup group) {
        return new Repair(resource, group, "RESTART_BM", "f", "why", Set.of("check"), NOW, Optional.empty(), "");
    }

    /** Writes the record, and reads it as the next leader does. */
    private RepairRecord written(RepairRecord record) throws IOException {
        node.apply(RepairAnnotations.patch(node.read(), record));
        return RepairAnnotations.of(node.read());
    }

    @Test
    void earlierAttemptCountsAgainAfterALaterOneOfItsGroupIsWithdrawn() throws Exception {
        Repair first = attempt("first");
        Result good = new Result(Outcome.SUCCEEDED, NOW, "");
        RepairRecord record = written(RepairRecord.NONE.with(first).withMade("first"));
        record = written(record.withResult(first, good));
        record = written(record.with(attempt("second")));
        assertThat(record.last(RepairGroup.RESTART)).contains(attempt("second"));

        Result over = new Result(Outcome.WITHDRAWN, NOW, "the fault was over");
        RepairRecord withdrawn = written(record.withResult(attempt("second"), over));
        assertThat(withdrawn.last(RepairGroup.RESTART)).contains(first.ended(good));
        withdrawn = written(withdrawn.with(attempt("third")).withResult(attempt("third"), over));
        assertThat(withdrawn.last(RepairGroup.RESTART)).contains(first.ended(good));

        RepairRecord made = written(withdrawn.with(attempt("fourth")).withMade("fourth"));
        assertThat(made.last(RepairGroup.RESTART)).contains(attempt("fourth"));
        assertThat(made.session())
                .as("the annotation names the last attempt alone")
                .containsExactly("fourth");
    }

    @Test
    void attemptsThatWereWithdrawnLeaveTheOthersTheirPlaces() throws Exception {
        RepairScene scene = new RepairScene().fault(RecommendedAction.COMPONENT_RESET, "Xid", RepairScene.GPU_A);
        scene.act();
        scene.later(10).end(MaintenanceKind.GPU_RESET, true);
        scene.later(300);
        Set<String> names = new HashSet<>();
        for (int i = 0; i < 2 * RepairRecord.MOST; i++) {
            // The drain begins again before the resource of the second attempt can be made.
            scene.record = written(scene.decide().record());
            names.add(scene.record
                    .history()
                    .get(scene.record.history().size() - 1)
                    .resource());
            scene.drain = RepairFacts.DrainStanding.NONE;
            scene.record = written(scene.later(1).decide().record());
            scene.drain = new RepairFacts.DrainStanding(true, true, Set.of());
        }
        assertThat(scene.record.history()).hasSizeLessThanOrEqualTo(RepairRecord.MOST);
        assertThat(names).hasSizeGreaterThan(RepairRecord.MOST);
        assertThat(scene.record.history())
                .extracting(Repair::resource)
                .as("an approval of one is none of the next")
                .doesNotHaveDuplicates();
        scene.act();
        scene.later(10).end(MaintenanceKind.GPU_RESET, true);
        assertThat(scene.later(300).act()).as("two resets were made").containsExactly("restart");
    }

    @Test
    void annotationThatCannotBeReadIsNamedWithTheWayOut() {
        node.texts("annotations").put(NodeAnnotations.REPAIRS, "x".repeat(256 * 1024));
        assertThatThrownBy(() -> RepairAnnotations.of(node.read()))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("its annotation gpuwarden.dev/repairs cannot be read: ")
                .hasMessageEndingWith("; correct it, or remove it: kubectl annotate node n gpuwarden.dev/repairs-")
                .hasMessageMatching("(?s).{1,600}");
        node.texts("annotations").put(NodeAnnotations.REPAIRS, "[]");
        node.texts("annotations").put(NodeAnnotations.REPAIR, "[]");
        assertThatThrownBy(() -> RepairAnnotations.of(node.read()))
                .hasMessageContaining("kubectl annotate node n gpuwarden.dev/repair-");
    }

    @Test
    void approverIsKeptBesideALongReason() throws Exception {
        Repair approved = new Repair(
                        "r",
                        RepairGroup.RESTART,
                        "RESTART_BM",
                        "f",
                        "x".repeat(600),
                        Set.of("c"),
                        NOW,
                        Optional.empty(),
                        "")
                .approvedBy("ann");
        assertThat(approved.why()).endsWith(", approved by ann").hasSizeLessThan(600);
        assertThat(written(RepairRecord.NONE.with(approved)).history()).containsExactly(approved);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\u0001", "\u6f22", "\""})
    void textsOfOtherProgramsLeaveRoomInTheAnnotations(String character) throws Exception {
        String text = character.repeat(32 * 1024);
        RepairScene scene = new RepairScene();
        for (int fault = 0; fault < 8; fault++) {
            scene.fault(HealthEvent.of("a", "GPU", fault + text.substring(0, 8 * 1024))
                    .nodeName("n")
                    .fatal(true)
                    .customAction(text.substring(0, 7 * 1024))
                    .action(RecommendedAction.CUSTOM)
                    .build());
        }
        RepairRecord record = scene.decide().record();
        for (int i = 0; i < RepairRecord.MOST; i++) {
            Repair attempt = new Repair(
                    "r" + i, RepairGroup.RESTART, "RESTART_BM", "f", text, Set.of("check"), NOW, Optional.empty(), "");
            record = record.with(attempt).withResult(attempt, new Result(Outcome.FAILED, NOW, text));
        }
        record = record.waitingFor(Optional.empty(), scene.decide().record().person());
        RepairRecord read = written(record);
        assertThat(read.history()).hasSize(RepairRecord.MOST);
        assertThat(read.person()).isPresent();
        assertThat(node.texts("annotations").values().stream()
                        .mapToInt(each -> String.valueOf(each).getBytes(UTF_8).length)
                        .sum())
                .isLessThan(192 * 1024);
    }

    @Test
    void attemptOfAnotherKindWithTheSameNameStaysInItsQuarantine() throws Exception {
        RepairGroup tickets = new RepairGroup(
                TestTemplates.ticket("ticket", "CONTACT_SUPPORT").all().get(0).kind(), new TreeSet<>());
        RepairGroup cases = new RepairGroup(
                new TemplateKind("ticket", ResourceKind.ofCluster("example.com", "v1", "cases", "Case")),
                new TreeSet<>());
        Repair failed = attempt("first", tickets).ended(new Result(Outcome.FAILED, NOW, "no"));
        RepairRecord record = written(RepairRecord.NONE.with(failed));
        record = written(record.with(attempt("second", cases)));
        assertThat(record.last(tickets)).contains(failed);
        node.texts("annotations").remove(NodeAnnotations.REMEDIATION_STATE);
        assertThat(RepairAnnotations.of(node.read()).session())
                .as("an operator has removed the annotation")
                .isEmpty();
    }
}
