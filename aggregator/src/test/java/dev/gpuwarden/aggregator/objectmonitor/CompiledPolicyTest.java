package dev.gpuwarden.aggregator.objectmonitor;

import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.compiled;
import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.pod;
import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.policy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.cel.InvalidExpressionException;
import dev.gpuwarden.aggregator.objectmonitor.CompiledPolicy.Outcome;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.Damping;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CompiledPolicyTest {

    private static final Instant NOW = Instant.parse("2026-11-22T12:00:00Z");
    private static final Map<String, Object> POD = pod("Running", "[{name: a, ready: true, restartCount: 7}]");

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            resource.metadata.namspace == 'x'          | DoesNotCompile | line 1 column 18: resource.metadata has no field namspace, did you mean namespace?; available: annotations
            resource.stats.phase == 'x'                | DoesNotCompile | line 1 column 9: resource has no field stats, did you mean status?; available: apiVersion
            pod.status.phase == 'x'                    | DoesNotCompile | line 1 column 1: undeclared reference to 'pod'
            resource.status.phase ==                   | DoesNotCompile | line 1 column
            'x' + 'y'                                  | DoesNotCompile | expected type 'bool' but found 'string'
            now > duration('5m')                       | DoesNotCompile | available: resource (Pod of v1, as the API server has it
            1 > 2                                      | NeverMatches   | the expression is always false
            """)
    void errorNamesItsPlaceAndReason(String expression, String verdict, String message) {
        assertThatThrownBy(() -> CompiledPolicy.compile(policy("p", expression)))
                .isInstanceOfSatisfying(InvalidExpressionException.class, problem -> {
                    assertThat(problem.reason().name()).isEqualTo(verdict);
                    assertThat(problem).hasMessageContaining(message).hasMessageStartingWith("predicate.expression: ");
                });
    }

    @Test
    void errorInAssociationIsNamed() {
        assertThatThrownBy(() -> CompiledPolicy.compile(policy("p", "true", "resource.metadata.nam\n  + 1")))
                .hasMessageStartingWith("nodeAssociation.expression: ");
    }

    /** The pod is in gpu-operator, has the operator's label, belongs to a DaemonSet, runs on n1 and is healthy. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            resource.metadata.namespace == 'gpu-operator' && resource.status.phase != 'Running'                   | true
            resource.metadata.namespace == 'gpu-opreator' && resource.status.phase != 'Running'                   | false
            resource.status.phase != 'Running' && resource.metadata.namespace == 'gpu-opreator'                   | false
            resource['status']['phase'] != 'Running' && resource['metadata']['namespace'] == 'gpu-opreator'       | false
            has(resource.status.reason) && resource.metadata.namespace == 'gpu-opreator'                          | false
            resource.status.phase in ['Failed'] && resource.metadata.name.startsWith('nvidia-')                   | false
            resource.status.phase in ['Failed'] && resource.metadata.name.startsWith('valid')                     | true
            resource.metadata.labels['app.kubernetes.io/managed-by'] == 'Helm' && resource.status.phase == 'Failed' | false
            resource.status.containerStatuses.exists(c, !c.ready) && resource.metadata.labels.exists(l, l == 'x') | false
            resource.status.containerStatuses.exists(c, !c.ready && resource.metadata.namespace == 'x')           | true
            resource.status.containerStatuses.size() > 3 && resource.metadata.namespace != 'x'                    | true
            resource.metadata.ownerReferences.exists(r, r.kind == 'Job') && resource.status.phase == 'Failed'     | false
            resource.spec.nodeSelector.exists(l, l == 'x') && resource.status.phase == 'Failed'                   | true
            resource.metadata.namespace == 'x' && now - timestamp(resource.metadata.creationTimestamp) > duration('1h') | false
            timestamp(resource.metadata.creationTimestamp) < now - duration('1h')                                 | true
            has(resource.metadata.deletionTimestamp) && now - timestamp(resource.metadata.deletionTimestamp) > duration('1h') | true
            resource.metadata.namespace == 'gpu-opreator'                                                         | true
            resource.spec.nodeName == 'other'                                                                     | true
            """)
    void objectIsSelectedIfItCanMatchInSomeState(String expression, boolean selected) {
        CompiledPolicy policy = compiled(policy("p", expression));
        assertThat(policy.evaluate(POD, NOW).matches()).isFalse();
        assertThat(policy.selects(POD)).isEqualTo(selected);
    }

    @Test
    void numbersCompareByValueInAnyNotation() {
        String restarts = "resource.status.containerStatuses.exists(c, c.restartCount > 5)";
        assertThat(compiled(policy("p", restarts)).evaluate(POD, NOW).matches()).isTrue();
    }

    @Test
    void failedEvaluationDoesNotMatchAndHasAProblem() {
        Outcome outcome =
                compiled(policy("p", "resource.status.reason == 'Evicted'")).evaluate(POD, NOW);
        assertThat(outcome.matches()).isFalse();
        assertThat(outcome.problem().orElseThrow()).contains("reason");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            resource.spec.hostname  | hostname
            ''                      | empty text
            """)
    void objectWithoutNodeMatchesAndHasAProblem(String association, String why) {
        Outcome outcome = compiled(policy("p", "true", association)).evaluate(POD, NOW);
        assertThat(outcome.matches()).isTrue();
        assertThat(outcome.node()).isEmpty();
        assertThat(outcome.problem().orElseThrow()).contains("nodeAssociation").contains(why);
    }

    @Test
    void nestedLoopsAreStopped() {
        Map<String, Object> big = JsonTrees.copy(POD);
        big.put(
                "status",
                Map.of(
                        "items",
                        IntStream.range(0, 2000).mapToObj(Integer::toString).toList()));
        String pairs = "resource.status.items.all(a, resource.status.items.all(b, a != 'x' || b != 'x'))";
        Outcome outcome = compiled(policy("p", pairs)).evaluate(big, NOW);
        assertThat(outcome.tooCostly()).isTrue();
        assertThat(outcome.matches()).isFalse();
        assertThat(outcome.problem().orElseThrow()).contains("too many steps");
    }

    /** Expressions from a random search among a million: one search in one step took 0.2 s and more. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            TEXT.split(resource.metadata.name + MESSAGE).size() == 1
            TEXT.replace(resource.metadata.name + MESSAGE, '') == 'x'
            TEXT.split('').size() == 1
            """)
    void longSearchInOneStepIsTooCostly(String expression) {
        Map<String, Object> big = JsonTrees.copy(POD);
        big.put("status", Map.of("message", "xy".repeat(8000)));
        String text = "'xyz'.replace('', 'xyz'.replace('', resource.status.message))";
        String whole = expression.replace("TEXT", text).replace("MESSAGE", "resource.status.message");
        Outcome outcome = compiled(policy("p", whole)).evaluate(big, NOW);
        assertThat(outcome.tooCostly()).isTrue();
    }

    @Test
    void timeWithoutAProcessorDoesNotCount() {
        Map<String, Object> slow = new LinkedHashMap<>(POD) {
            private static final long serialVersionUID = 1L;

            @Override
            public Object get(Object key) {
                LockSupport.parkNanos(PolicyStats.LONGEST.toNanos());
                return super.get(key);
            }
        };
        CompiledPolicy policy = compiled(policy("p", "resource.kind == 'Pod'"));
        assertThat(policy.evaluate(POD, NOW).matches()).as("classes are loaded").isTrue();
        long start = System.nanoTime();
        Outcome outcome = policy.evaluate(slow, NOW);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(PolicyStats.LONGEST.toNanos());
        assertThat(outcome.nanos()).isLessThan(PolicyStats.LONGEST.toNanos());
    }

    @Test
    void objectOfOneMegabyteIsEvaluated() {
        Map<String, Object> big = JsonTrees.copy(POD);
        big.put("data", Map.of("text", "x".repeat(1 << 20)));
        String expression = "resource.data.text.matches('x*y') || resource.metadata.name == 'validator'";
        CompiledPolicy policy = compiled(
                MonitorPolicy.of(TestPolicies.resource("p", "ConfigMap", expression, "resource.spec.nodeName")));
        assertThat(policy.evaluate(big, NOW).matches()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', quoteCharacter = '`', textBlock = """
            now > timestamp('2026-11-22T12:10:00Z')                                                        ~ 10m
            now < timestamp('2026-11-22T12:00:30Z')                                                        ~ 30s
            now > timestamp('2026-12-02T12:00:00Z')                                                        ~ 240h
            now > timestamp('2027-12-02T12:00:00Z')                                                        ~ never
            resource.metadata.name == 'validator' && now > timestamp('2026-11-22T12:10:00Z')               ~ 10m
            resource.metadata.name == 'other' && now > timestamp('2026-11-22T12:10:00Z')                   ~ untimed
            now > timestamp('2026-11-22T12:10:00Z') && resource.metadata.name == 'other'                   ~ untimed
            resource.metadata.name == 'validator' || now > timestamp('2026-11-22T12:10:00Z')               ~ untimed
            resource.metadata.name == 'validator'                                                          ~ untimed
            """)
    void changeOfTheResultIsForeseen(String expression, String when) {
        Outcome outcome = compiled(policy("p", expression)).evaluate(POD, NOW);
        assertThat(outcome.problem()).isEmpty();
        assertThat(outcome.timed()).isEqualTo(!when.equals("untimed"));
        if (when.equals("untimed") || when.equals("never")) {
            assertThat(outcome.changes()).isEmpty();
        } else {
            Instant expected = NOW.plus(dev.gpuwarden.cli.Durations.parse(when));
            assertThat(outcome.changes().orElseThrow()).isBetween(expected, expected.plusMillis(2));
        }
    }

    @Test
    void policyIsReadAndRefusedLikeBySchema() {
        assertThat(policy("p", "true").resource()).isEqualTo(new ResourceType("", "v1", "Pod"));
        assertThat(policy("p", "true").enabled()).isTrue();
        assertThatThrownBy(() -> MonitorPolicy.of(Map.of("metadata", Map.of("name", "p"))))
                .hasMessage("spec.resource.version: expected a text, there is none");
        Map<String, Object> wrong = TestPolicies.resource("p", "Pod", "true", "'n'");
        Map<String, Object> spec = JsonTrees.copy(JsonTrees.object(wrong, "spec"));
        spec.put("healthEvent", Map.of("componentClass", "Software", "recommendedAction", "CONTACT_SUPORT"));
        wrong.put("spec", spec);
        assertThatThrownBy(() -> MonitorPolicy.of(wrong)).hasMessageContaining("did you mean CONTACT_SUPPORT?");
        Map<String, Object> pods = TestPolicies.resource("p", "Pod", "true", "'n'");
        assertThat(MonitorPolicy.of(pods).damping()).isEqualTo(new Damping(Duration.ZERO, Duration.ZERO));
        assertThat(TestPolicies.with(TestPolicies.resource("p", "Job", "true", "'n'"), "minMatchSeconds: 5")
                        .damping())
                .isEqualTo(new Damping(Duration.ofSeconds(5), Duration.ofMinutes(5)));
        assertThatThrownBy(() -> TestPolicies.with(pods, "minHealthySeconds: 90000"))
                .hasMessage("spec.minHealthySeconds: expected 0 to 86400, found 90000");
    }

    @Test
    void digestDependsOnMatchingAndNotOnTheEvent() {
        Map<String, Object> resource = TestPolicies.resource("p", "Pod", "true", "'n'");
        Map<String, Object> spec = JsonTrees.copy(JsonTrees.object(resource, "spec"));
        spec.put("healthEvent", Map.of("componentClass", "Other", "errorCode", List.of()));
        resource.put("spec", spec);
        String digest = policy("p", "true", "'n'").digest();
        assertThat(MonitorPolicy.of(resource).digest()).isEqualTo(digest);
        assertThat(policy("p", "false", "'n'").digest()).isNotEqualTo(digest);
    }
}
