package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeCache.CachedNodeHealth;
import dev.gpuwarden.aggregator.client.Json;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FaultReportTest {

    private static final Instant T0 = Instant.parse("2026-11-22T03:00:00Z");

    @ParameterizedTest
    @CsvSource({
        "0, 1, false, 20, false, received immediately",
        "0, 1, false, 40, true, long ago",
        "0, 20, false, 20, true, the watch was interrupted",
        "0, 20, true, 20, false, the API server was asked",
        "0, 20, true, 60, true, and that is long ago",
        "0, 1, false, -600, true, the clock was set back",
    })
    void healthIsOldWhenANewerOneMayExist(
            int reported, int received, boolean answered, int now, boolean old, String why) {
        Map<String, Object> tree =
                Map.of("status", Map.of("reported", T0.plusSeconds(reported).toString()));
        CachedNodeHealth health = new CachedNodeHealth(tree, T0.plusSeconds(received), answered);
        assertThat(FaultReport.isStale(health, T0.plusSeconds(now))).as(why).isEqualTo(old);
    }

    private static final String MONITOR = """
            , "monitors": [{"name": "operators", "reported": "2026-11-22T02:00:00Z", "faultCount": 1, "faults": [
                {"agent": "m", "componentClass": "Software", "checkName": "pods", "fatal": true,
                 "recommendedAction": "CONTACT_SUPPORT", "processingStrategy": "EXECUTE_REMEDIATION", "message": "not ready",
                 "sequence": 0, "since": "2026-11-22T02:00:00Z", "lastSeen": "2026-11-22T02:00:00Z", "occurrences": 1}]}]
            """;

    @ParameterizedTest
    @CsvSource({
        "1, 60, false, TRUSTED, 0",
        "1, 60, true, TRUSTED, 1",
        "1, 700, false, STALE, 0",
        "1, 700, true, SILENT, 1",
        "0, 60, false, PARTIAL, 0",
        "0, 60, true, MONITORED, 1",
        "1, -400, true, IMPLAUSIBLE, 0",
    })
    void faultsOfMonitorsCountWhenTheNodesReportDoesNot(
            int generation, int age, boolean monitored, FaultReport.Standing standing, int faults) throws Exception {
        Map<String, Object> tree = Json.readObject("""
                {"metadata": {"name": "n1", "ownerReferences": [{"kind": "Node", "name": "n1", "uid": "u1"}]},
                 "status": {"generation": %d, "reported": "2026-11-22T03:00:00Z", "unlistedCount": 0, "faults": []%s}}
                """.formatted(generation, monitored ? MONITOR : ""));
        FaultReport report = FaultReport.of("n1", Optional.of(tree), T0.plusSeconds(age));
        assertThat(report.standing()).as(report.why()).isEqualTo(standing);
        assertThat(report.faults()).hasSize(faults);
        assertThat(report.ofMonitors()).hasSize(faults);
    }

    @ParameterizedTest
    @CsvSource({"yesterday", "''"})
    void unreadableHealthIsOld(String reported) {
        CachedNodeHealth health = new CachedNodeHealth(Map.of("status", Map.of("reported", reported)), T0, false);
        assertThat(FaultReport.isStale(health, T0)).isTrue();
    }
}
