package dev.gpuwarden.core.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.health.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeLabelsTest {

    private static List<CheckResult> results(String outcomes) {
        List<CheckResult> results = new ArrayList<>();
        for (String outcome : outcomes.isBlank() ? new String[0] : outcomes.split(" ")) {
            Finding finding = new Finding(
                    Outcome.valueOf(outcome), "code", Subject.NODE, "", "", RecommendedAction.NONE, List.of());
            CheckInfo check = CheckInfo.of("check", "GPU", "Asks.");
            results.add(CheckResult.of(check, Instant.EPOCH, Duration.ZERO, List.of(finding)));
        }
        return results;
    }

    /** "agent/fatal/action/strategy", several with blanks between them. */
    private static List<Fault> faults(String texts) {
        FaultTable table = new FaultTable();
        for (String text : texts.isBlank() ? new String[0] : texts.split(" ")) {
            String[] parts = text.split("/");
            HealthEvent event = HealthEvent.of(parts[0], "GPU", "Check")
                    .fatal(parts[1].equals("fatal"))
                    .action(RecommendedAction.valueOf(parts[2]))
                    .strategy(ProcessingStrategy.valueOf(parts[3]))
                    .errorCodes(List.of(text))
                    .build();
            table.apply(event, 1, Instant.EPOCH);
        }
        return table.faults();
    }

    @ParameterizedTest
    @CsvSource({
        "PASS, '', PASS, FIT",
        "PASS SKIPPED, '', PASS, FIT",
        "PASS UNKNOWN, '', '', UNDECIDED",
        "'', '', '', UNDECIDED",
        "SKIPPED, '', '', UNDECIDED",
        // A finding is a fault only when it is confirmed.
        "PASS FAIL, '', '', NOT_FIT",
        "PASS, gpuwarden/fatal/RESTART_BM/EXECUTE_REMEDIATION, EVICT, NOT_FIT",
        "FAIL, gpuwarden/fatal/RESTART_BM/UNSPECIFIED, EVICT, NOT_FIT",
        "PASS WARN, gpuwarden/minor/NONE/EXECUTE_REMEDIATION, WARN, FIT",
        "UNKNOWN, gpuwarden/minor/NONE/EXECUTE_REMEDIATION, WARN, UNDECIDED",
        "PASS, syslog/fatal/CONTACT_SUPPORT/EXECUTE_REMEDIATION, EVICT, NOT_FIT",
        "PASS, syslog/minor/NONE/EXECUTE_REMEDIATION, PASS, FIT",
        "PASS, syslog/minor/COMPONENT_RESET/EXECUTE_REMEDIATION, WARN, FIT",
        "PASS, syslog/fatal/RESTART_BM/STORE_ONLY, PASS, FIT",
        "PASS, syslog/minor/REMEDIATE/UNSPECIFIED syslog/fatal/RESTART_BM/UNSPECIFIED, EVICT, NOT_FIT",
    })
    void labelAndVerdictFollowFromResultsAndFaults(String outcomes, String faults, String label, Verdict verdict) {
        assertThat(NodeLabels.of(results(outcomes), faults(faults)).getOrDefault(NodeLabels.GPU_HEALTH, ""))
                .isEqualTo(label);
        assertThat(NodeVerdict.of(results(outcomes), faults(faults))).isEqualTo(verdict);
    }
}
