package dev.gpuwarden.core.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.RecommendedAction;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerdictTest {

    @ParameterizedTest
    @CsvSource({
        "'', UNDECIDED",
        "SKIPPED, UNDECIDED",
        "WARN, UNDECIDED",
        "PASS, FIT",
        "PASS WARN, FIT",
        "PASS SKIPPED, FIT",
        "PASS UNKNOWN, UNDECIDED",
        "PASS FAIL, NOT_FIT",
        "UNKNOWN FAIL, NOT_FIT",
        "FAIL, NOT_FIT",
    })
    void faultOutweighsUnknownAndNoFindingIsNotFit(String outcomes, Verdict verdict) {
        List<Finding> findings = outcomes.isEmpty()
                ? List.of()
                : List.of(outcomes.split(" ")).stream()
                        .map(VerdictTest::finding)
                        .toList();
        assertThat(Verdict.of(findings)).isEqualTo(verdict);
    }

    private static Finding finding(String outcome) {
        return new Finding(
                Outcome.valueOf(outcome), "code", Subject.NODE, "message", "", RecommendedAction.NONE, List.of());
    }
}
