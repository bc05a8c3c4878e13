package dev.gpuwarden.core.compute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EqualBoardTest {

    private static EqualBoard board(int index, GpuMetric metric, long value) {
        return EqualBoard.of(
                Snapshots.gpu(index, GpuState.ANSWERING, frame -> frame.put(GpuFrame.slot(metric), value)));
    }

    @ParameterizedTest
    @EnumSource(names = {"MIG_MODE", "POWER_LIMIT_ENFORCED", "ECC_MODE"})
    void boardsAreEqualIfNameAndSettingsAre(GpuMetric metric) {
        assertThat(board(0, metric, 1)).isEqualTo(board(1, metric, 1)).isNotEqualTo(board(1, metric, 0));
    }

    @Test
    void aGpuWithoutANameIsEqualToNoOther() {
        EqualBoard one = EqualBoard.of(Snapshots.gpu(Snapshots.anonymous(0), GpuState.ANSWERING, frame -> {}));
        EqualBoard other = EqualBoard.of(Snapshots.gpu(Snapshots.anonymous(1), GpuState.ANSWERING, frame -> {}));
        assertThat(one).isNotEqualTo(other);
    }
}
