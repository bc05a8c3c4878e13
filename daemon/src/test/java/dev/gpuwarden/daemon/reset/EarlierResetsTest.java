package dev.gpuwarden.daemon.reset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.reset.GpuReset.Outcome;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Resets after others that were killed: persistence mode, and its record. */
@Tag("programs")
class EarlierResetsTest extends GpuResetFixture {

    @Test
    void resetEndsTheWorkOfEarlierOnesThatWereKilled() throws Exception {
        node.set("gpu.2.persistence", "off");
        node.set("gpu.3.persistence", "off");
        record().write(List.of(uuid(2), uuid(3), "GPU-gone"));
        Outcome outcome = reset();
        assertThat(outcome.success()).isTrue();
        assertThat(outcome.steps())
                .extracting(GpuReset.Step::name)
                .endsWith("persistence-on", "acknowledge", GpuReset.EARLIER);
        assertThat(outcome.steps().get(outcome.steps().size() - 1).detail())
                .contains("GPU-gone is not on this node", uuid(2));
        assertThat(persistent())
                .as("the reset GPU was on before the first reset")
                .isTrue();
        assertThat(node.control().table().number("gpu[2].persistence")).isEqualTo(1);
        assertThat(record().read()).isEmpty();
    }

    @Test
    void earlierWorkThatFailsStaysInTheRecordAndFailsNoReset() throws Exception {
        record().write(List.of(uuid(2)));
        node.set("gpu.2.persistence", "off");
        node.set("gpu.2.state", "lost");
        Outcome outcome = reset();
        assertThat(outcome.success()).isTrue();
        assertThat(outcome.failure()).isEmpty();
        assertThat(outcome.steps().get(outcome.steps().size() - 1).done()).isFalse();
        assertThat(record().read()).containsExactly(uuid(2));
    }

    @Test
    void noModeIsTurnedOffThatCannotBeRecorded() throws Exception {
        Files.createDirectories(folder.resolve("gpu-reset-persistence.json.new/full"));
        assertThat(failure(reset())).startsWith("recorded: persistence mode cannot be recorded in " + folder);
        assertThat(persistent()).isTrue();
        Files.writeString(folder.resolve("gpu-reset-persistence.json"), "{}");
        assertThat(failure(reset()))
                .isEqualTo("alone: " + folder.resolve("gpu-reset-persistence.json")
                        + ": expected gpuwarden.persistence/v1, seen another schema; turn persistence mode on where it"
                        + " must be (nvidia-smi -pm 1), and remove the file");
        assertThat(around.log).containsOnly("released", "taken again");
    }
}
