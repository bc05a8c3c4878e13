package dev.gpuwarden.daemon.vram.action;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows as Slurm 22.05.8 writes them. */
class SlurmActuatorTest {

    /** A job, an array of three, and an array of which two tasks wait. */
    private static final String ROWS = """
            1 1 N/A
            6 5 1
            7 5 2
            5 5 3
            9 8 1
            8 8 [2-3]
            """;

    @ParameterizedTest
    @CsvSource({"1, 1", "6, 5_1", "5, 5_3", "9, 8_1"})
    void theNameMeansOneJobAlone(String number, String name) {
        assertThat(SlurmActuator.name(number, ROWS)).contains(name);
    }

    @Test
    void tasksThatWaitAndUnknownJobsHaveNone() {
        assertThat(SlurmActuator.name("8", ROWS)).isEmpty();
        assertThat(SlurmActuator.name("2", ROWS)).isEmpty();
        assertThat(SlurmActuator.name("1", "")).isEmpty();
        assertThat(SlurmActuator.name("1", "1 1 N/A extra\nslurm_load_jobs error"))
                .isEmpty();
    }
}
