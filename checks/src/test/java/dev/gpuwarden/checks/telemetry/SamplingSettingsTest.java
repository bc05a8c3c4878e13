package dev.gpuwarden.checks.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.port.DriverOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class SamplingSettingsTest {

    private static SamplingSettings parse(String... args) {
        SamplingSettings settings = new SamplingSettings();
        CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();
        spec.addMixin("sampling", CommandLine.Model.CommandSpec.forAnnotatedObject(settings));
        new CommandLine(spec)
                .registerConverter(Duration.class, Durations::parse)
                .parseArgs(args);
        return settings;
    }

    @Test
    void defaultsAreThoseOfTheFields() {
        assertThat(parse()).usingRecursiveComparison().isEqualTo(new SamplingSettings());
        assertThat(parse().fastInterval()).isEqualTo(Duration.ofSeconds(1));
        parse().validate();
    }

    @Test
    void readsItsOptions() {
        SamplingSettings settings = parse(
                "--sampling.fast-interval=250ms",
                "--driver.path=jna",
                "--driver.library-path=/a",
                "--driver.library-path=/b");
        assertThat(settings.fastInterval()).isEqualTo(Duration.ofMillis(250));
        assertThat(settings.driverOptions())
                .isEqualTo(new DriverOptions(List.of("/a", "/b"), DriverOptions.SamplerPath.JNA));
    }

    @Test
    void errorsNameTheExpectedValue() {
        assertThatThrownBy(() -> parse("--driver.path=ffm")).hasMessageContaining("expected auto, jni or jna");
        assertThatThrownBy(() -> parse("--sampling.fast-interval=20s").validate())
                .isInstanceOf(UserError.class)
                .hasMessage("--sampling.slow-interval must not be shorter than --sampling.fast-interval (20s),"
                        + " but was 10s");
    }
}
