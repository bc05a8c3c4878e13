package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DoctorCommandTest {

    @Test
    void showsTheLibraryAndConsequencesOfAnOldOne() {
        try (SimulatedNode node = SimulatedNode.start("driver-470")) {
            Program doctor = Program.run(node, "doctor");
            assertThat(doctor.exitCode()).isZero();
            assertThat(doctor.err()).isEmpty();
            assertThat(doctor.out())
                    .containsPattern("driver +nvml 470\\.")
                    .contains(node.libraryPath().toString())
                    .contains("functions are present; missing:")
                    .contains("nvmlDeviceGetMemoryInfo_v2");
        }
    }

    @Test
    void showsRefusedAnswersOfTheLibrary() {
        try (SimulatedNode node = SimulatedNode.start("liar")) {
            Program doctor = Program.run(node, "doctor");
            assertThat(doctor.out())
                    .contains("refused answers of the library:")
                    .contains("ComputeRunningProcesses_v3")
                    .contains("utilization")
                    .doesNotContain("\u001b");
            assertThat(Program.run(node, "doctor", "-o", "json").out())
                    .contains("\"schema\": \"gpuwarden.doctor/v1\"")
                    .contains("\"refusedValues\": [\n")
                    .contains("\"refusedAnswers\": [\n");
        }
    }

    @ParameterizedTest
    @CsvSource({"no-driver, 'driver not loaded (code 9)'", "version-mismatch, 'version mismatch (code 18)'"})
    void exitCodeIs3WithoutADriver(String scenario, String output) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            Program doctor = Program.run(node, "doctor");
            assertThat(doctor.exitCode()).isEqualTo(3);
            assertThat(doctor.out())
                    .contains(output)
                    .contains(node.libraryPath().toString());
        }
    }

    @Test
    void showsTheLibraryOfCollectives() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            String file = node.libraryPath().resolveSibling("libnccl.so.2").toString();
            assertThat(Program.run(node, "doctor", "--nccl.library-path=" + file)
                            .out())
                    .containsPattern("NCCL +" + Pattern.quote(file + ", version 2.21.5"));
        }
    }

    /** In a process of its own, since the loader finds a library that is loaded already. */
    @Test
    @Tag("programs")
    void namesTheRemedyWithoutOne() throws IOException, InterruptedException {
        Program doctor = Program.spawn("doctor", "--nccl.library-path=/nonexistent");
        assertThat(doctor.out())
                .contains("no libnccl.so.2 in /nonexistent, the loader's search path", "pip install nvidia-nccl-cu12");
    }

    @Test
    void showsReadablePartsOfTheNode() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            Program doctor = Program.run(
                    "doctor",
                    "--driver.library-path=" + node.libraryPath(),
                    "--path.sysfs=" + node.sysfs(),
                    "--path.podlogs=/nonexistent");
            assertThat(doctor.out())
                    .containsPattern("PID namespace +(host|private)")
                    .containsPattern("process table +/proc is readable")
                    .contains("/nonexistent does not exist");
        }
    }
}
