package dev.gpuwarden.aggregator.objectmonitor;

import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.compiled;
import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.objectmonitor.PolicyStandings.Reach;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus.PolicyAssessor;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus.Trouble;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the condition of a policy, and the remedy in it. */
class PolicyAssessorTest {

    private static final Instant NOW = Instant.parse("2026-11-22T12:00:00Z");

    private final PolicyStats run = new PolicyStats(compiled(policy("p", "true")));

    PolicyAssessorTest() {
        var unused = run.ask("ns/a", TestPolicies.pod("Running", "[]"), NOW, new MonitorMetrics());
    }

    private PolicyStatus status(Optional<Trouble> trouble, boolean complete, int objects, int matches, int ofMissing) {
        return status(run, trouble, complete, objects, matches, ofMissing);
    }

    private static PolicyStatus status(
            PolicyStats run, Optional<Trouble> trouble, boolean complete, int objects, int matches, int ofMissing) {
        return status(run, trouble, complete, objects, matches, ofMissing, "none");
    }

    private static PolicyStatus status(
            PolicyStats run,
            Optional<Trouble> trouble,
            boolean complete,
            int objects,
            int matches,
            int ofMissing,
            String confirmed) {
        Map<String, Object> tree = Map.of("metadata", Map.of("annotations", Map.of(PolicyStore.CONFIRM, confirmed)));
        PolicyStore.Entry entry =
                new PolicyStore.Entry(3, Optional.of(run.source()), Optional.of(run), Optional.empty(), tree);
        return PolicyAssessor.policy(
                "p",
                entry,
                Duration.ofSeconds(10),
                Optional.of(new PolicyAssessor.Standing(trouble, complete, objects)),
                new Reach(objects, matches, 100, matches).tooMuch(4),
                matches,
                ofMissing,
                ofMissing == 0 ? Set.of() : Set.of("n9"));
    }

    @Test
    void workingPolicyReportsItsCounts() {
        PolicyStatus status = status(Optional.empty(), true, 100, 7, 0);
        assertThat(status.ready()).isTrue();
        assertThat(status.reason()).isEqualTo("Ready");
        assertThat(status.generation()).isEqualTo(3);
        assertThat(status.counts()).containsEntry("objects", 100L).containsEntry("matches", 7L);
    }

    @Test
    void policyThatMatchesEverythingWaitsForConfirmationOfItsGeneration() {
        assertThat(status(Optional.empty(), true, 10, 5, 0).reason()).isEqualTo("Ready");
        PolicyStatus most = status(Optional.empty(), true, 10, 6, 0);
        assertThat(most.reason()).isEqualTo("MatchesEverything");
        assertThat(most.ready()).isFalse();
        assertThat(most.message())
                .contains("6 of 10 objects match")
                .endsWith("kubectl annotate --overwrite monitorpolicy p gpuwarden.dev/confirm-matches-everything=3");
        PolicyStatus confirmed = status(run, Optional.empty(), true, 10, 6, 0, "3");
        assertThat(confirmed.ready()).isTrue();
        assertThat(confirmed.reason()).isEqualTo("Ready");
        assertThat(confirmed.message()).contains("6 of 10 objects match is confirmed for generation 3");
        assertThat(status(run, Optional.empty(), true, 10, 6, 0, "2").ready())
                .as("of the earlier generation")
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "3, 3, 3, 3, ''",
        "4, 2, 4, 2, ''",
        "4, 3, 100, 1, 3 of 4 objects match",
        "5, 3, 100, 1, 3 of 5 objects match",
        "1000, 40, 40, 20, ''",
        "1000, 40, 40, 21, its matches concern 21 of 40 nodes",
        "0, 0, 0, 0, ''",
    })
    void shareAboveHalfIsTooMuch(int objects, int matches, int nodes, int concerned, String why) {
        assertThat(new Reach(objects, matches, nodes, concerned).tooMuch(4).orElse(""))
                .isEqualTo(why);
    }

    @Test
    void policyThatSelectsNothingWorksAndIsNamed() {
        PolicyStats stats = new PolicyStats(compiled(
                policy("p", "resource.metadata.namespace ==\n  'gpu-opreator' && resource.status.phase == 'Failed'")));
        assertThat(stats.ask("gpu-operator/a", TestPolicies.pod("Failed", "[]"), NOW, new MonitorMetrics())
                        .matches())
                .isFalse();
        PolicyStatus none = status(stats, Optional.empty(), true, 100, 0, 0);
        assertThat(none.reason()).isEqualTo("NothingInScope");
        assertThat(none.ready()).as("its operator may not be installed").isTrue();
        assertThat(none.message())
                .startsWith("no Pod of v1 is selected, with any status and at any time; ")
                .endsWith(
                        "in the predicate: resource.metadata.namespace == 'gpu-opreator' && resource.status.phase == 'Failed'");
        assertThat(status(stats, Optional.empty(), false, 100, 0, 0).reason())
                .as("not all have arrived")
                .isEqualTo("Listing");
        Map<String, Object> healthy = TestPolicies.pod("gpu-opreator", "a", "n1", "Running", "[]");
        assertThat(stats.ask("gpu-opreator/a", healthy, NOW, new MonitorMetrics())
                        .matches())
                .isFalse();
        assertThat(status(stats, Optional.empty(), true, 100, 0, 0).reason()).isEqualTo("Ready");
        stats.gone("gpu-opreator/a");
        assertThat(status(stats, Optional.empty(), true, 100, 0, 0).reason()).isEqualTo("Ready");
        stats.begin();
        assertThat(status(stats, Optional.empty(), true, 100, 0, 0).reason()).isEqualTo("NothingInScope");
    }

    @Test
    void kindWithoutObjectsIsNamed() {
        PolicyStatus none = status(Optional.empty(), true, 0, 0, 0);
        assertThat(none.reason()).isEqualTo("NothingInScope");
        assertThat(none.ready()).isTrue();
        assertThat(none.message()).startsWith("the cluster has no Pod of v1; ");
    }

    @Test
    void missingNodesAreNamed() {
        PolicyStatus status = status(Optional.empty(), true, 100, 7, 2);
        assertThat(status.reason()).isEqualTo("ObjectsWithoutNode");
        assertThat(status.message()).contains("n9");
        assertThat(status.matches()).isEqualTo(5);
        assertThat(status.withoutNode()).isEqualTo(2);
    }

    @Test
    void reasonOfTheInformerIsTheCondition() {
        PolicyStatus status = status(Optional.of(new Trouble("Forbidden", "do this")), false, 0, 3, 0);
        assertThat(status.ready()).isFalse();
        assertThat(status.reason()).isEqualTo("Forbidden");
        assertThat(status.message()).isEqualTo("do this");
        assertThat(status(Optional.empty(), false, 0, 3, 0).reason()).isEqualTo("Listing");
    }

    @Test
    void stoppedPolicyReportsTheReason() {
        PolicyStats loops = new PolicyStats(
                compiled(policy("p", "[1,2].all(a, resource.spec.l.all(b, resource.spec.l.all(c, a + b + c > 0)))")));
        Map<String, Object> big = Map.of(
                "spec",
                Map.of("l", java.util.stream.LongStream.range(1, 500).boxed().toList()));
        MonitorMetrics metrics = new MonitorMetrics();
        for (int i = 0; i < 5; i++) {
            assertThat(status(loops, Optional.empty(), true, 1, 0, 0).ready()).isTrue();
            assertThat(loops.ask("ns/big", big, NOW, metrics).tooCostly()).isTrue();
        }
        PolicyStatus status = status(loops, Optional.empty(), true, 1, 0, 0);
        assertThat(status.ready()).isFalse();
        assertThat(status.reason()).isEqualTo("TooCostly");
        assertThat(status.message()).contains("it takes ", "ns/big", "the faults that it reported before stay");
    }

    @Test
    void errorsAreReportedWhenTheyLast() {
        PolicyStats errs = new PolicyStats(compiled(policy("p", "resource.spec.nothing")));
        var unused = errs.ask("ns/a", TestPolicies.pod("Running", "[]"), NOW, new MonitorMetrics());
        assertThat(errs.erringFor(java.time.Duration.ofMinutes(1))).isFalse();
        assertThat(errs.erringFor(java.time.Duration.ZERO)).isTrue();
        assertThat(status(errs, Optional.empty(), true, 1, 0, 0).reason()).isEqualTo("Ready");
        assertThat(status(errs, Optional.empty(), true, 1, 0, 0).erring()).isEqualTo(1);
    }
}
