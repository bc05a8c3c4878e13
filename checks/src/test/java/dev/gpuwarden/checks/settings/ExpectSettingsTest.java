package dev.gpuwarden.checks.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.Expectations;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ExpectSettingsTest {

    @CommandLine.Command
    static final class Any {
        @CommandLine.Mixin
        ExpectSettings expect = new ExpectSettings();
    }

    private static Expectations of(String... args) {
        Any any = new Any();
        new CommandLine(any).parseArgs(args);
        return any.expect.expectations();
    }

    @Test
    void unsetOptionsAreNotExpected() {
        assertThat(of()).isEqualTo(Expectations.NONE);
    }

    @Test
    void setOptionsAreExpected() {
        assertThat(of(
                        "--expect.gpus=8",
                        "--expect.driver=550.163,570",
                        "--expect.product=H100",
                        "--expect.vbios=96.00",
                        "--expect.board-part=2619",
                        "--expect.nic-ports=8",
                        "--expect.nic-rate-gbps=400",
                        "--check.nic-exclude=mlx5_bond_0,mlx5_9"))
                .isEqualTo(new Expectations(
                        OptionalInt.of(8),
                        List.of("550.163", "570"),
                        List.of("H100"),
                        List.of("96.00"),
                        List.of("2619"),
                        OptionalInt.of(8),
                        OptionalInt.of(400),
                        Set.of("mlx5_bond_0", "mlx5_9")));
    }

    @Test
    void rateWithoutPortsAndNegativeNumbersAreRefused() {
        assertThatThrownBy(() -> of("--expect.nic-rate-gbps=400"))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("--expect.nic-ports");
        assertThatThrownBy(() -> of("--expect.gpus=-1"))
                .isInstanceOf(UserError.class)
                .hasMessage("--expect.gpus must not be negative, but was -1");
    }
}
