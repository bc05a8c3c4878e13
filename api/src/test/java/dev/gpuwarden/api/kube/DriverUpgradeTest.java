package dev.gpuwarden.api.kube;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DriverUpgradeTest {

    /** Each state of the operator, and one that it does not have today. */
    @ParameterizedTest
    @CsvSource({
        "'', false",
        "upgrade-required, false",
        "node-maintenance-required, true",
        "cordon-required, true",
        "wait-for-jobs-required, true",
        "pod-deletion-required, true",
        "drain-required, true",
        "post-maintenance-required, true",
        "pod-restart-required, true",
        "validation-required, true",
        "uncordon-required, true",
        "upgrade-done, false",
        "upgrade-failed, true",
        "firmware-required, true",
    })
    void onlyAStateInWhichTheOperatorDoesNothingPermitsAnAction(String state, boolean holds) {
        assertThat(DriverUpgrade.underWay(Map.of(DriverUpgrade.LABEL, state)).isPresent())
                .isEqualTo(holds);
        assertThat(DriverUpgrade.underWay(Map.of(DriverUpgrade.LABEL, state)).orElse(state))
                .contains(state);
    }

    @Test
    void nodeWithoutTheLabelHasNoUpgrade() {
        assertThat(DriverUpgrade.underWay(Map.of())).isEmpty();
    }
}
