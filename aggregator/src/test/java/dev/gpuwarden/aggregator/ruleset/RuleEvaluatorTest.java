package dev.gpuwarden.aggregator.ruleset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.cache.CachedNode.Taint;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Clause;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Label;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RuleEvaluatorTest {

    private static final HealthEvent XID_79 = HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
            .fatal(true)
            .nodeName("node-1")
            .message("GPU has fallen off the bus")
            .action(RecommendedAction.RESTART_BM)
            .errorCodes(List.of("79"))
            .entities(List.of(new Entity("PCI", "0000:3b:00")))
            .metadata(Map.of("chassis_serial", "17"))
            .build();

    private static final Map<String, Object> NODE = Map.of(
            "metadata", Map.of("name", "node-1", "labels", Map.of("pool", "a"), "annotations", Map.of()),
            "spec", Map.of("taints", List.of()),
            "status", Map.of());

    private static Clause event(String expression) {
        return new Clause(Clause.Kind.HEALTH_EVENT, expression);
    }

    private static Clause node(String expression) {
        return new Clause(Clause.Kind.NODE, expression);
    }

    private static QuarantineRuleSet set(String name, List<Clause> all, List<Clause> any) {
        return new QuarantineRuleSet(name, 3, true, 0, all, any, true, Optional.empty(), Optional.empty());
    }

    private static List<String> met(QuarantineRuleSet... sets) {
        return RuleEvaluator.compile(Arrays.asList(sets)).match(XID_79, NODE).met().stream()
                .map(QuarantineRuleSet::name)
                .toList();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            event.isFatal                                                                  | true
            event.isFatal == true && event.agent == 'syslog-health-monitor'               | true
            event.errorCode == null OR !event.errorCode.exists(e, e == '45')             | true
            '79' in event.errorCode                                                        | true
            event['agent'].startsWith('syslog-')                                           | true
            event.entitiesImpacted.exists(e, e.entityType == 'PCI' && e.entityValue == '0000:3b:00') | true
            event.recommendedAction == 24                                                  | true
            event.recommendedAction > 2.5                                                  | true
            event.metadata['chassis_serial'] == '17'                                       | true
            'chassis_serial' in event.metadata                                             | true
            event.message.matches('fallen off')                                            | true
            event.message.lowerAscii().contains('gpu')                                     | true
            event.quarantineOverrides.force                                                | false
            event.componentClass == 'NIC'                                                  | false
            event.isHealthy                                                                | false
            """)
    void expressionIsEvaluatedOnTheEvent(String expression, boolean met) {
        String cel = expression.replace("OR", "||");
        assertThat(met(set("rule", List.of(event(cel)), List.of()))).hasSize(met ? 1 : 0);
    }

    @Test
    void ruleSetIsMetWhenAllClausesAndOneOfAnyAreTrue() {
        Clause yes = event("event.isFatal");
        Clause no = event("!event.isFatal");
        Clause pool = node("node.metadata.labels['pool'] == 'a'");
        assertThat(met(
                        set("a-all", List.of(yes, pool), List.of()),
                        set("b-all-one-false", List.of(yes, no), List.of()),
                        set("c-any", List.of(), List.of(no, yes)),
                        set("d-any-none", List.of(), List.of(no, no)),
                        set("e-both", List.of(pool), List.of(no, yes)),
                        set("f-all-but-not-any", List.of(yes), List.of(no)),
                        set("g-any-but-not-all", List.of(no), List.of(yes))))
                .containsExactly("a-all", "c-any", "e-both");
    }

    @Test
    void ruleSetThatFailsIsNotMetAndIsReported() {
        RuleEvaluator book = RuleEvaluator.compile(List.of(
                set("asks-too-much", List.of(node("node.metadata.labels['rack'] == 'r1'")), List.of()),
                set("works", List.of(event("event.isFatal")), List.of())));
        RuleEvaluator.Matches matches = book.match(XID_79, NODE);
        assertThat(matches.met()).extracting(QuarantineRuleSet::name).containsExactly("works");
        assertThat(matches.unanswered()).singleElement().satisfies(unanswered -> {
            assertThat(unanswered.ruleSet()).isEqualTo("asks-too-much");
            assertThat(unanswered.why()).contains("rack");
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            event.isFatel                      | DoesNotCompile | line 1 column 6: event has no field isFatel, did you mean isFatal?
            event['chekName'] == 'x'           | DoesNotCompile | did you mean checkName?
            node.metadata.name == 'x'          | DoesNotCompile | line 1 column 1: undeclared reference to 'node'
            event.isFatal &&                   | DoesNotCompile | line 1 column
            'x' + 'y'                          | DoesNotCompile | expected type 'bool' but found 'string'
            event.nothing()                    | DoesNotCompile | available: event with agent, checkName
            event.errorCode == '79'            | NeverMatches   | line 1 column 17: event.errorCode is a list and never equal to what it is compared with: ask '…' in event.errorCode
            'true' == event.isFatal            | NeverMatches   | event.isFatal is a boolean
            event.recommendedAction == 'RESTART_BM' | NeverMatches | event.recommendedAction is a number
            1 > 2                              | NeverMatches   | the expression is always false
            event.entitiesImpacted.exists(a, event.entitiesImpacted.exists(b, a == b && a.entityType == 'x')) | TooCostly | it takes too many steps
            """)
    void conditionNamesTheError(String expression, String reason, String message) {
        RuleEvaluator book = RuleEvaluator.compile(List.of(
                set("bad", List.of(event("event.isFatal"), event(expression)), List.of()),
                set("good", List.of(event("event.isFatal")), List.of())));
        assertThat(book.conditions().get(0)).satisfies(condition -> {
            assertThat(condition.ready()).isFalse();
            assertThat(condition.generation()).isEqualTo(3);
            assertThat(condition.reason()).isEqualTo(reason);
            assertThat(condition.message()).startsWith("match.all[1]: ").contains(message);
        });
        assertThat(book.conditions().get(1).ready()).isTrue();
        assertThat(book.match(XID_79, NODE).met())
                .extracting(QuarantineRuleSet::name)
                .containsExactly("good");
    }

    @Test
    void errorIsReportedAtItsLine() {
        RuleEvaluator book = RuleEvaluator.compile(
                List.of(set("bad", List.of(event("event.isFatal &&\n  event.chekName == 'x'")), List.of())));
        assertThat(book.conditions().get(0).message()).contains("line 2 column 8");
    }

    @Test
    void longAndDeepExpressionsAreRefused() {
        String wide = "event.isFatal" + " && event.isFatal".repeat(400);
        String deep = "(".repeat(200) + "event.isFatal" + ")".repeat(200);
        assertThat(RuleEvaluator.compile(List.of(
                                set("deep", List.of(event(deep)), List.of()),
                                set("wide", List.of(event(wide)), List.of())))
                        .conditions())
                .allSatisfy(condition -> assertThat(condition.reason()).isEqualTo("DoesNotCompile"));
    }

    @Test
    void disabledRuleSetIsNotEvaluatedAndReportsDisabled() {
        QuarantineRuleSet off = new QuarantineRuleSet(
                "off",
                1,
                false,
                0,
                List.of(event("event.isFatal")),
                List.of(),
                true,
                Optional.empty(),
                Optional.empty());
        assertThat(met(off)).isEmpty();
        assertThat(RuleEvaluator.compile(List.of(off)).conditions())
                .singleElement()
                .satisfies(condition -> assertThat(condition.reason()).isEqualTo("Disabled"));
    }

    @Test
    void ruleSetIsReadFromItsResource() {
        Map<String, Object> resource = Map.of(
                "metadata",
                Map.of("name", "gpu-fatal", "generation", 7L),
                "spec",
                Map.of(
                        "priority",
                        100L,
                        "match",
                        Map.of("all", List.of(Map.of("kind", "HealthEvent", "expression", "event.isFatal"))),
                        "taint",
                        Map.of("key", "nvidia.com/gpu-error", "value", "true", "effect", "NoSchedule"),
                        "label",
                        Map.of("key", "gpu-fault", "value", "active")));
        assertThat(QuarantineRuleSet.of(resource))
                .isEqualTo(new QuarantineRuleSet(
                        "gpu-fatal",
                        7,
                        true,
                        100,
                        List.of(event("event.isFatal")),
                        List.of(),
                        false,
                        Optional.of(new Taint("nvidia.com/gpu-error", "true", "NoSchedule")),
                        Optional.of(new Label("gpu-fault", "active"))));
        assertThatThrownBy(() -> QuarantineRuleSet.of(Map.of("spec", Map.of("cordon", Map.of("shouldCordon", true)))))
                .hasMessageContaining("at least one clause");
    }
}
