package dev.gpuwarden.checks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The contract of every check, for the tests of each module that has some. */
public final class CheckContract {

    private CheckContract() {}

    public static void descriptionIsComplete(HealthCheck check) {
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

    public static void namesAreUnique(List<HealthCheck> checks) {
        assertThat(checks).extracting(check -> check.info().id()).doesNotHaveDuplicates();
        assertThat(checks).extracting(check -> check.info().eventName()).doesNotHaveDuplicates();
    }

    /** @param node the name of the node, for messages */
    public static void findingsAreUsable(HealthCheck check, CheckContext context, String node) {
        List<Finding> findings = check.run(context);
        Set<String> subjects = new HashSet<>();
        for (Finding finding : findings) {
            String found = check.info().id() + " on " + node + ": " + finding;
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
