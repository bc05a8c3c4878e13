package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.drain.DrainPart;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.NodeCommand;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.provider.ProviderAddress;
import dev.gpuwarden.aggregator.quarantine.QuarantinePart;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class ProviderOptionsTest {

    @Command(name = "test")
    private static final class Holder {
        @Mixin
        final JanitorPart janitor = new JanitorPart(() -> "gpuwarden", new DrainPart(new QuarantinePart()), () -> true);
    }

    private static JanitorPart parsed(String words) {
        Holder holder = new Holder();
        CommandLine line = new CommandLine(holder);
        line.registerConverter(Duration.class, Durations::parse);
        var unused = line.parseArgs(("--janitor.image=i " + words).trim().split(" "));
        return holder.janitor;
    }

    @Test
    void addressAndFilesAreThoseOfTheOptions() {
        JanitorPart options = parsed("--janitor.reboot=provider --janitor.provider=[::1]:50051 --janitor.provider-ca=ca"
                + " --janitor.provider-token-file=t");
        assertThat(options.settings("gpuwarden").map(JanitorSettings::reboot)).contains(RebootProvider.PROVIDER);
        assertThat(options.provider.address(true))
                .contains(new ProviderAddress(
                        "::1", 50051, false, Optional.of(Path.of("ca")), Optional.of(Path.of("t"))));
        assertThatThrownBy(options::configure)
                .isInstanceOf(UserError.class)
                .hasMessage("--janitor.provider-ca: expected a file, seen none that can be read: ca");
        assertThat(parsed("").settings("gpuwarden").map(JanitorSettings::reboot))
                .contains(RebootProvider.JOB);
    }

    @Test
    void commandHasItsImageWordsAndSecret() {
        assertThat(parsed("--janitor.reboot=command --janitor.command=/bin/power,--cycle --janitor.command-image=p"
                                + " --janitor.command-secret=bmc")
                        .settings("gpuwarden")
                        .flatMap(JanitorSettings::command))
                .contains(new NodeCommand("p", List.of("/bin/power", "--cycle"), Optional.of("bmc")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--janitor.provider=a:1 | --janitor.provider*: expected with --janitor.reboot=provider alone",
                "--janitor.reboot=external --janitor.provider-plaintext | expected with --janitor.reboot=provider"
                        + " alone",
                "--janitor.command-image=p | --janitor.command*: expected with --janitor.reboot=command alone",
                "--janitor.reboot=command --janitor.command=x | expected --janitor.command-image=IMAGE, seen none",
                "--janitor.reboot=command --janitor.command-image=p | expected --janitor.command with 1 to 32 words,"
                        + " seen 0",
                "--janitor.reboot=provider | expected --janitor.provider=HOST:PORT, seen none",
                "--janitor.reboot=provider --janitor.provider=:1 | expected HOST:PORT or [IPv6]:PORT, seen \":1\"",
                "--janitor.reboot=provider --janitor.provider=a | expected HOST:PORT or [IPv6]:PORT, seen \"a\"",
                "--janitor.reboot=provider --janitor.provider=a:1 --janitor.provider-plaintext"
                        + " --janitor.provider-token-file=t | a token without TLS is readable on the network",
            })
    void contradictionsAreNamed(String words, String expected) {
        assertThatThrownBy(() -> parsed(words).settings("gpuwarden"))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(expected);
    }
}
