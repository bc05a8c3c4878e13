package dev.gpuwarden.aggregator.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NotTriedTest {

    @ParameterizedTest
    @CsvSource({
        "GPUNotOnNode, true",
        "LockLost, true",
        "JobSuspended, true",
        "ResetJobFailed, false",
        "ServiceTeardownTimeoutExceeded, false",
        "Timeout, false",
        "'', false",
        "reasonOfAnotherJanitor, false",
    })
    void onlyAnAttemptWithAVerdictCounts(String reason, boolean notTried) {
        assertThat(NotTried.is(reason)).isEqualTo(notTried);
    }
}
