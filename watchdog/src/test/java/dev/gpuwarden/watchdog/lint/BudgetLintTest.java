package dev.gpuwarden.watchdog.lint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.watchdog.budget.PodBudget.Kind;
import dev.gpuwarden.watchdog.lint.LintFinding.Rule;
import dev.gpuwarden.watchdog.lint.Workload.Container;
import dev.gpuwarden.watchdog.lint.Workload.Pod;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BudgetLintTest {

    private static final Optional<String> NONE = Optional.empty();
    private static final LintRules RULES = new LintRules("gpuwarden.dev/vram-mib", Optional.of(13374L << 20), Map.of());

    @Test
    void aBudgetThatFitsHasNoFinding() {
        assertThat(judge(budget("5k"))).isEmpty();
        assertThat(judge(container(Optional.of("5000"), Optional.of("5k"), 1))).isEmpty();
    }

    @Test
    void aWorkloadWithoutBudgetHasNone() {
        Workload workload = workload(1, Optional.of("25%"), container(NONE, NONE, 0));
        assertThat(BudgetLint.hasBudget(workload)).isFalse();
        assertThat(BudgetLint.judge(workload, RULES)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.5", "1500m", "-5", "5 GB", "lots"})
    void namesAContainerWhoseQuantityIsNone(String text) {
        assertThat(judge(budget(text))).singleElement().satisfies(finding -> {
            assertThat(finding.rule()).isEqualTo(Rule.NO_QUANTITY);
            assertThat(finding.problem())
                    .startsWith("container model: expected")
                    .endsWith("seen '" + text + "'");
        });
    }

    @ParameterizedTest
    @CsvSource({"4Gi,4096", "5G,4768", "3000Mi,3000"})
    void findsBytesInPlaceOfMebibytes(String text, String remedy) {
        assertThat(judge(budget(text))).singleElement().satisfies(finding -> {
            assertThat(finding.rule()).isEqualTo(Rule.UNIT);
            assertThat(finding.remedy()).contains("write " + remedy + " ");
        });
    }

    @Test
    void requestAndLimitMustBeEqual() {
        assertThat(rules(container(Optional.of("4000"), Optional.of("5000"), 1)))
                .containsExactly(Rule.REQUEST_IS_NOT_LIMIT);
        assertThat(rules(container(Optional.of("4000"), NONE, 1))).containsExactly(Rule.REQUEST_IS_NOT_LIMIT);
        assertThat(rules(container(Optional.of("x"), Optional.of("5000"), 1)))
                .containsExactly(Rule.NO_QUANTITY, Rule.REQUEST_IS_NOT_LIMIT);
    }

    @Test
    void theResourceOfAPodAsAWholeIsRefused() {
        Pod pod = new Pod(List.of(container(NONE, NONE, 1)), NONE, Optional.of("3000"), false);
        assertThat(BudgetLint.judge(workload(1, NONE, pod), RULES))
                .extracting(LintFinding::rule)
                .containsExactly(Rule.POD_LEVEL);
    }

    @Test
    void aBudgetAboveTheLargestCardNeverRuns() {
        assertThat(judge(budget("13374"))).isEmpty();
        assertThat(judge(budget("13375"))).singleElement().satisfies(finding -> {
            assertThat(finding.rule()).isEqualTo(Rule.ABOVE_LARGEST_CARD);
            assertThat(finding.problem()).contains("13375 MiB").contains("13374 MiB");
        });
        LintRules unknown = new LintRules("r", Optional.empty(), Map.of());
        assertThat(BudgetLint.judge(workload(1, NONE, budget("13375")), unknown))
                .isEmpty();
    }

    @Test
    void theSumOfContainersCountsForTheCard() {
        Pod pod = new Pod(List.of(budget("8k"), budget("6k")), NONE, NONE, false);
        Pod starting = new Pod(
                List.of(new Container("load", Kind.INIT, NONE, Optional.of("14k"), 1), budget("6k")),
                NONE,
                NONE,
                false);
        assertThat(BudgetLint.judge(workload(1, NONE, starting), RULES))
                .extracting(LintFinding::rule)
                .containsExactly(Rule.ABOVE_LARGEST_CARD);
        // Two containers with a GPU each may have two cards.
        assertThat(BudgetLint.judge(workload(1, NONE, pod), RULES)).isEmpty();
    }

    @Test
    void replicasThatNeedSeveralCardsAreCounted() {
        assertThat(BudgetLint.judge(workload(3, NONE, budget("5k")), RULES))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.rule()).isEqualTo(Rule.REPLICAS_ABOVE_CARD);
                    assertThat(finding.problem())
                            .isEqualTo(
                                    "3 replicas of 5000 MiB do not fit on one card with 13374 MiB for budgets; 2 do");
                });
        assertThat(BudgetLint.judge(workload(2, NONE, budget("5k")), RULES)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "25%, 1, true",
        "1, 1, true",
        "100%, 2, true",
        "0, 1, false",
        "0%, 4, false",
        "00, 1, false",
        "25%, 0, false"
    })
    void anUpdateThatStartsPodsFirstIsNamed(String surge, int replicas, boolean found) {
        List<LintFinding> findings = BudgetLint.judge(workload(replicas, Optional.of(surge), budget("1000")), RULES);
        assertThat(findings.stream().anyMatch(finding -> finding.rule() == Rule.SURGE))
                .isEqualTo(found);
    }

    @Test
    void aBudgetWithoutGpuIsNamed() {
        assertThat(rules(container(NONE, Optional.of("3000"), 0))).containsExactly(Rule.WITHOUT_GPU);
        Pod claims = new Pod(List.of(container(NONE, Optional.of("3000"), 0)), NONE, NONE, true);
        assertThat(BudgetLint.judge(workload(1, NONE, claims), RULES)).isEmpty();
        assertThat(rules(container(NONE, Optional.of("0"), 0))).isEmpty();
    }

    @Test
    void oneBudgetForSeveralGpusIsNamed() {
        assertThat(rules(container(NONE, Optional.of("26000"), 2))).containsExactly(Rule.UNKNOWN_SPLIT);
        assertThat(rules(container(NONE, Optional.of("27000"), 2)))
                .containsExactly(Rule.ABOVE_LARGEST_CARD, Rule.UNKNOWN_SPLIT);
    }

    @Test
    void findsTheTwoBudgetsThatWereSwapped() {
        LintRules measured = new LintRules(
                "r", Optional.empty(), Map.of("immich/server", 1200L << 20, "immich/machine-learning", 2100L << 20));
        Workload server = named("server", "3000");
        Workload learning = named("machine-learning", "1800");
        assertThat(BudgetLint.judge(server, measured)).isEmpty();
        assertThat(BudgetLint.judge(learning, measured)).singleElement().satisfies(finding -> {
            assertThat(finding.rule()).isEqualTo(Rule.BELOW_USE);
            assertThat(finding.problem()).contains("budget 1800 MiB, measured use 2100 MiB");
        });
    }

    @Test
    void measuredUseIsForTheWorkloadOfThatNamespaceAlone() {
        LintRules measured = new LintRules("r", Optional.empty(), Map.of("other/server", 9000L << 20));
        assertThat(BudgetLint.judge(named("server", "3000"), measured)).isEmpty();
        Workload anywhere = new Workload(
                "a.yaml:1", "Pod", NONE, "server", 1, NONE, new Pod(List.of(budget("3000")), NONE, NONE, false));
        assertThat(BudgetLint.judge(anywhere, measured)).hasSize(1);
    }

    private static Container budget(String limit) {
        return container(NONE, Optional.of(limit), 1);
    }

    private static Container container(Optional<String> request, Optional<String> limit, long gpus) {
        return new Container("model", Kind.MAIN, request, limit, gpus);
    }

    private static List<LintFinding> judge(Container container) {
        return BudgetLint.judge(workload(1, NONE, container), RULES);
    }

    private static List<Rule> rules(Container container) {
        return judge(container).stream().map(LintFinding::rule).toList();
    }

    private static Workload workload(long replicas, Optional<String> surge, Container container) {
        return workload(replicas, surge, new Pod(List.of(container), NONE, NONE, false));
    }

    private static Workload workload(long replicas, Optional<String> surge, Pod pod) {
        return new Workload("a.yaml:1", "Deployment", Optional.of("media"), "model", replicas, surge, pod);
    }

    private static Workload named(String name, String limit) {
        return new Workload(
                "a.yaml:1",
                "Deployment",
                Optional.of("immich"),
                name,
                1,
                NONE,
                new Pod(List.of(budget(limit)), NONE, NONE, false));
    }
}
