package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.drain.DrainPart;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.JanitorTimes;
import dev.gpuwarden.aggregator.quarantine.QuarantinePart;
import dev.gpuwarden.cli.Durations;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class JanitorTimesTest {

    @Command(name = "test")
    private static final class Holder {
        @Mixin
        final JanitorPart janitor = new JanitorPart(() -> "gpuwarden", new DrainPart(new QuarantinePart()), () -> true);
    }

    private static JanitorTimes times(String... words) {
        Holder holder = new Holder();
        CommandLine line = new CommandLine(holder);
        line.registerConverter(Duration.class, Durations::parse);
        var unused = line.parseArgs(
                Stream.concat(Stream.of("--janitor.image=i"), Stream.of(words)).toArray(String[]::new));
        return holder.janitor.settings("gpuwarden").map(JanitorSettings::times).orElseThrow();
    }

    @Test
    void defaultsAreThoseOfTheSettingsAndEachOptionSetsItsOwn() {
        assertThat(times()).isEqualTo(JanitorTimes.DEFAULT);
        assertThat(times(
                        "--janitor.teardown-timeout=11s",
                        "--janitor.job-timeout=12s",
                        "--janitor.restore-timeout=13s",
                        "--janitor.reboot-timeout=14s",
                        "--janitor.terminate-timeout=15s",
                        "--janitor.keep=16s"))
                .isEqualTo(new JanitorTimes(
                        Duration.ofSeconds(11),
                        Duration.ofSeconds(12),
                        Duration.ofSeconds(13),
                        Duration.ofSeconds(14),
                        Duration.ofSeconds(15),
                        Duration.ofSeconds(16),
                        JanitorTimes.DEFAULT.poll()));
    }
}
