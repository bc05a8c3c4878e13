package dev.gpuwarden.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AbsenceTest {

    @ParameterizedTest
    @CsvSource({
        "0,PRESENT",
        "3,NOT_SUPPORTED",
        "4,NO_PERMISSION",
        "6,NO_DATA",
        "13,NO_SYMBOL",
        "15,GPU_LOST",
        "16,RESET_REQUIRED",
        "1,FAILED",
        "999,FAILED",
        "-7,FAILED"
    })
    void nvmlReturnNamesTheCause(int code, Absence cause) {
        assertThat(Absence.ofNvmlReturn(code)).isEqualTo(cause);
    }

    @Test
    void ordinalsOfNativeCodeAreFixed() {
        assertThat(Absence.PENDING.ordinal()).isZero();
        assertThat(Absence.PRESENT.ordinal()).isEqualTo(1);
        assertThat(Absence.of(4711)).isEqualTo(Absence.FAILED);
    }

    @Test
    void absentReadingHasDetailCauseAndCode() {
        Reading<Long> lost = Reading.absent(Absence.GPU_LOST, 15, "nvmlDeviceGetTemperature");
        assertThat(lost.asOptional()).isEmpty();
        assertThat(lost.map(v -> v + 1)).isEqualTo(lost);
        assertThat(((Reading.Absent<Long>) lost).text())
                .isEqualTo("nvmlDeviceGetTemperature: the GPU is lost (code 15)");
    }
}
