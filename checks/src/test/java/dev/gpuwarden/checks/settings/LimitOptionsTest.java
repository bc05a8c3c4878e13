package dev.gpuwarden.checks.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.Snapshots;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

class LimitOptionsTest {

    @TempDir
    Path folder;

    private Limits limits(String yaml) throws IOException {
        LimitOptions options = new LimitOptions();
        options.file = Files.writeString(folder.resolve("limits.yaml"), yaml);
        return options.limits();
    }

    @Test
    void shippedLimitsApplyWithoutAFile() {
        assertThat(new LimitOptions()
                        .limits()
                        .of("pcie_replays_per_minute")
                        .orElseThrow()
                        .source())
                .startsWith("limits.tsv:");
    }

    @Test
    void userLimitsNameFileAndLine() throws IOException {
        Limits limits = limits("""
                # on this fleet
                pcie_replays_per_minute: 20
                NVIDIA H100:
                  temperature_margin_celsius: 3.5
                """);
        assertThat(limits.of("pcie_replays_per_minute"))
                .contains(new Limits.Limit("pcie_replays_per_minute", 20, folder + "/limits.yaml:2"));
        assertThat(limits.of("temperature_margin_celsius", Snapshots.identity(0)))
                .contains(new Limits.Limit("temperature_margin_celsius", 3.5, folder + "/limits.yaml:4"));
        assertThat(limits.of("temperature_margin_celsius").orElseThrow().value())
                .isZero();
    }

    @Test
    void bandwidthOfNcclOverridesThatOfTheBoard() {
        LimitOptions options = new LimitOptions();
        new CommandLine(new Holder(options)).parseArgs("--check.nccl-bandwidth=12.5GB/s");
        assertThat(options.limits().of("nccl_busbw_gigabytes_per_second", Snapshots.identity(0)))
                .contains(new Limits.Limit("nccl_busbw_gigabytes_per_second", 12.5, "--check.nccl-bandwidth"));
    }

    @ParameterizedTest
    @CsvSource({"12", "12Gb/s", "0.01GB/s", "10001GB/s", "-5GB/s", "NaNGB/s"})
    void bandwidthWithoutUnitOrOutOfBoundsIsRefused(String text) {
        CommandLine line = new CommandLine(new Holder(new LimitOptions()));
        assertThatThrownBy(() -> line.parseArgs("--check.nccl-bandwidth=" + text))
                .hasMessageContaining("expected 0.1GB/s to 10000GB/s, but was '" + text + "'");
    }

    private static final class Holder {
        @Mixin
        private final LimitOptions options;

        Holder(LimitOptions options) {
            this.options = options;
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            pcie_replay_per_minute: 3              | :1: unknown limit pcie_replay_per_minute, did you mean pcie_replays_per_minute?
            temperature_max: 3                     | :1: unknown limit temperature_max, did you mean temperature_max_operating_celsius?
            NVIDIA H100: 3                         | :1: unknown limit NVIDIA H100
            NVIDIA H100:\\n  pcie_width_lanes: all | :2: pcie_width_lanes: expected a number, found 'all'
            pcie_width_lanes: .inf                 | :1: pcie_width_lanes: expected a number, found '.inf'
            pcie_width_lanes: NaN                  | :1: pcie_width_lanes: expected a number, found 'NaN'
            pcie_width_lanes: [8]                  | :1: pcie_width_lanes: expected a number, found a list
            pcie_width_lanes:                      | :1: pcie_width_lanes: expected a number, found nothing
            - 3                                    | :1: expected sections with keys, found a list
            """)
    void errorsNameTheirLine(String yaml, String message) {
        assertThatThrownBy(() -> limits(yaml.replace("\\n", "\n")))
                .isInstanceOf(UserError.class)
                .hasMessage(folder + "/limits.yaml" + message);
    }

    @Test
    void missingFileIsReported() {
        LimitOptions options = new LimitOptions();
        options.file = folder.resolve("none.yaml");
        assertThatThrownBy(options::limits).hasMessage(folder + "/none.yaml: no such file");
    }
}
