package dev.gpuwarden.checks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.SimulatedNode;
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
        CheckContract.descriptionIsComplete(check);
    }

    @Test
    void checkIdsAreUnique() {
        CheckContract.namesAreUnique(checks());
        assertThat(checks()).extracting(check -> check.info().id()).contains("driver");
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void contractHoldsOnEveryNode(String scenario) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            CheckContext context = CheckContexts.context(node, Limits.NONE);
            for (HealthCheck check : checks()) {
                CheckContract.findingsAreUsable(check, context, scenario);
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
