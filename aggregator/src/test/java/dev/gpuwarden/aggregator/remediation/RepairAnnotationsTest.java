package dev.gpuwarden.aggregator.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.quarantine.InMemoryNode;
import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import dev.gpuwarden.aggregator.remediation.Repair.Result;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class RepairAnnotationsTest {

    private static final Instant NOW = Instant.parse("2026-11-28T01:00:00Z");

    private final InMemoryNode node =
            new InMemoryNode("{\"metadata\": {\"name\": \"n\", \"uid\": \"u\", \"annotations\": {}, \"labels\": {}},"
                    + " \"spec\": {\"unschedulable\": true}}");

    private static Repair attempt(String resource) {
        return attempt(resource, RepairGroup.RESTART);
    }

    private static Repair attempt(String resource, RepairGroup group) {
        return new Repair(resource, group, "RESTART_BM", "f", "why", Set.of("check"), NOW, Optional.empty());
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
