package dev.gpuwarden.aggregator.objectmonitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecoveryRuleTest {

    private static final ResourceType PODS = new ResourceType("", "v1", "Pod");

    private static Optional<Instant> from(String phase, String containers) {
        return RecoveryRule.from(PODS, TestPolicies.pod(phase, containers));
    }

    private static String container(String begun, String ended, String again) {
        return "[{name: a, ready: true, restartCount: 2, state: {running: {startedAt: '" + again
                + "'}}, lastState: {terminated: {exitCode: 1, startedAt: '" + begun + "', finishedAt: '" + ended
                + "'}}}]";
    }

    /** Tests the status that kubelets report for a container without a readiness probe. */
    @ParameterizedTest
    @CsvSource({
        // ran from, to, runs again from, well from
        "12:00:00, 12:00:03, 12:00:20, 12:00:30",
        "12:00:00, 12:00:30, 12:01:00, 12:02:00",
        "12:00:00, 12:05:00, 12:06:00, 12:16:00",
        "02:00:00, 12:00:00, 12:01:00, 12:11:00",
    })
    void restartedContainerMustRunTwiceAsLongAsBefore(String begun, String ended, String again, String well) {
        assertThat(from("Running", container(at(begun), at(ended), at(again)))).contains(Instant.parse(at(well)));
    }

    private static String at(String time) {
        return "2026-11-22T" + time + "Z";
    }

    @Test
    void podWithoutRestartsIsWellImmediately() {
        assertThat(from("Running", "[{name: a, ready: true, state: {running: {startedAt: '2026-11-22T12:00:00Z'}}}]"))
                .contains(Instant.EPOCH);
        assertThat(from("Running", "[{name: a, ready: true, lastState: {terminated: {exitCode: 1}}}]"))
                .contains(Instant.EPOCH);
        assertThat(from("Succeeded", "[]")).contains(Instant.EPOCH);
    }

    @Test
    void lastContainerToRecoverCounts() {
        String sure = "{name: b, ready: true, state: {running: {startedAt: '2026-11-22T12:00:00Z'}}}";
        String loops = container(at("12:00:00"), at("12:00:03"), at("12:00:20"));
        assertThat(from("Running", loops.substring(0, loops.length() - 1) + ", " + sure + "]"))
                .contains(Instant.parse(at("12:00:30")));
        assertThat(from("Running", "[{name: a, ready: false}, " + sure + "]")).isEmpty();
        assertThat(from("Running", "[]")).isEmpty();
    }
}
