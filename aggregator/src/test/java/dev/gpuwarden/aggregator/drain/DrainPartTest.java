package dev.gpuwarden.aggregator.drain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import dev.gpuwarden.aggregator.quarantine.QuarantinePart;
import dev.gpuwarden.cli.Mode;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class DrainPartTest {

    @Command(name = "test")
    private static final class Holder {
        @picocli.CommandLine.Mixin
        final DrainPart drain = new DrainPart(new QuarantinePart());
    }

    private static DrainPart options(String... words) {
        Holder holder = new Holder();
        CommandLine line = new CommandLine(holder).setCaseInsensitiveEnumValuesAllowed(true);
        line.registerConverter(Duration.class, dev.gpuwarden.cli.Durations::parse);
        line.registerConverter(Mode.class, text -> Mode.valueOf(text.replace('-', '_')));
        var unused = line.parseArgs(words);
        return holder.drain;
    }

    @Test
    void defaultIsADryRunWithNVSentinelsRulesAndThePodsOwnGrace() {
        DrainReconciler.Settings settings = options().settings(true).orElseThrow();
        assertThat(settings.armed()).isFalse();
        assertThat(settings.policies().namespaces()).isEqualTo(DrainPolicies.DEFAULT.namespaces());
        assertThat(settings.policies().grace()).isEmpty();
        assertThat(options("--drain.grace=90s")
                        .settings(true)
                        .orElseThrow()
                        .policies()
                        .grace())
                .contains(Duration.ofSeconds(90));
        assertThat(settings.policies().timeout()).isEqualTo(Duration.ofMinutes(60));
        assertThat(settings.policies().notReady()).isEqualTo(Duration.ofMinutes(5));
        assertThat(settings.policies().system().pattern().pattern()).isEqualTo(SystemNamespaces.USUAL);
        assertThat(options().settings(false))
                .as("no node is in quarantine then")
                .isEmpty();
        assertThat(options("--drain.mode=off").settings(true)).isEmpty();
    }

    @Test
    void invalidOptionIsNamed() {
        assertThat(options("--drain.mode=armed").settings(true).orElseThrow().armed())
                .isTrue();
        assertThatThrownBy(() -> options("--drain.mode=armed").settings(false))
                .hasMessageContaining("--drain.mode=armed needs --quarantine.mode=armed");
        assertThatThrownBy(() -> options("--drain.namespaces=a=Immediate,b").settings(true))
                .hasMessageContaining("--drain.namespaces: expected NAMESPACE=MODE");
        assertThatThrownBy(() -> options("--drain.pods=a=b;Later").settings(true))
                .hasMessageContaining("--drain.pods: expected one of Immediate");
        assertThatThrownBy(() -> options("--drain.system-namespaces=(").settings(true))
                .hasMessageContaining("--drain.system-namespaces: expected a regular expression");
    }
}
