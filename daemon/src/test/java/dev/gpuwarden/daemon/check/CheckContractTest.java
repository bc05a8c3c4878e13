package dev.gpuwarden.daemon.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract of every check on the class path. */
class CheckContractTest {

    /** The largest nodes test no more of checks than smaller ones do, and take long to build. */
    private static final Set<String> LEFT_OUT = Set.of("big64", "busy500");

    static List<HealthCheck> checks() {
        return ServiceLoader.load(HealthCheck.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
    }

    static List<String> scenarios() {
        return Scenarios.names().stream()
                .filter(name -> !LEFT_OUT.contains(name))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("checks")
    void descriptionIsComplete(HealthCheck check) {
        CheckInfo info = check.info();
        assertThat(info.id()).matches("[a-z][a-z0-9]*(-[a-z0-9]+)*");
        assertThat(info.eventName()).matches("[A-Za-z][A-Za-z0-9]{0,62}");
        assertThat(info.componentClass()).isIn("GPU", "NIC", "NVSWITCH", "NODE");
        assertThat(info.summary())
                .isNotBlank()
                .hasSizeLessThan(120)
                .endsWith(".")
                .doesNotContain("\n");
        assertThat(info.every()).isBetween(Duration.ofSeconds(1), Duration.ofDays(1));
        assertThat(info.confirm()).isBetween(1, 100);
        assertThat(info.proof()).isBetween(1, 100);
    }

    @Test
    void checkIdsAreUnique() {
        assertThat(checks())
                .extracting(check -> check.info().id())
                .doesNotHaveDuplicates()
                .contains("driver");
        assertThat(checks()).extracting(check -> check.info().eventName()).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void contractHoldsOnEveryNode(String scenario) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            CheckContext context = CheckContexts.context(node, Limits.NONE);
            for (HealthCheck check : checks()) {
                List<Finding> findings = check.run(context);
                Set<String> subjects = new HashSet<>();
                for (Finding finding : findings) {
                    String found = check.info().id() + " on " + scenario + ": " + finding;
                    assertThat(finding.code()).as(found).matches("[a-z][a-z0-9]*(-[a-z0-9]+)*");
                    assertThat(finding.message()).as(found).isNotBlank();
                    assertThat(finding.outcome() == Outcome.FAIL || finding.action() == RecommendedAction.NONE)
                            .as("only a fault asks for an action: " + found)
                            .isTrue();
                    assertThat(subjects.add(finding.subject().label()))
                            .as("one finding for each part: " + found)
                            .isTrue();
                    assertThat(finding.subject().equals(Subject.NODE)
                                    || !finding.subject().entities().isEmpty())
                            .as("a part has a name for machines: " + found)
                            .isTrue();
                }
            }
        }
    }

    @Test
    void unreadPartsDoNotPass() {
        try (SimulatedNode node = SimulatedNode.start("no-driver")) {
            CheckContext context = CheckContexts.context(node, Limits.NONE);
            for (HealthCheck check : checks()) {
                if (check.info().componentClass().equals("GPU")
                        || check.info().id().equals("driver")) {
                    assertThat(check.run(context))
                            .as(check.info().id())
                            .noneMatch(finding -> finding.outcome() == Outcome.PASS);
                }
            }
        }
    }
}
