package dev.gpuwarden.daemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.SettingSources;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.CommandSpec;

class ChildSettingsTest {

    private static CommandSpec daemon(String... arguments) {
        List<CommandGroup> groups = List.of(new DaemonCommands());
        return Main.commandLine(SettingSources.none(), groups.iterator())
                .parseArgs(arguments)
                .subcommand()
                .commandSpec();
    }

    @Test
    void childGetsAllSettingsThatItsCommandHasToo() {
        CommandSpec daemon = daemon(
                "--config=/etc/other.yaml",
                "daemon",
                "--web.listen-address=127.0.0.1:9835",
                "--grpc.socket=/run/other.sock",
                "--grpc.socket-mode=0660",
                "--check.disable=nvlink",
                "--check.isolation=child",
                "--expect.gpus=8",
                "--kernel-log.source=file",
                "--path.sysfs=/host/sys");
        assertThat(ChildSettings.ofReset(daemon))
                .containsExactlyInAnyOrder(
                        "--config=/etc/other.yaml",
                        "--grpc.socket=/run/other.sock",
                        "--check.disable=nvlink",
                        "--check.isolation=child",
                        "--expect.gpus=8",
                        "--kernel-log.source=file",
                        "--path.sysfs=/host/sys");
        assertThat(ChildSettings.ofCheck(daemon))
                .as("it is named its check, asks no daemon and starts no child")
                .containsExactlyInAnyOrder(
                        "--config=/etc/other.yaml",
                        "--expect.gpus=8",
                        "--kernel-log.source=file",
                        "--path.sysfs=/host/sys");
        assertThat(ChildSettings.ofBundle(daemon))
                .containsExactlyInAnyOrder(
                        "--config=/etc/other.yaml", "--kernel-log.source=file", "--path.sysfs=/host/sys");
    }

    @Test
    void withoutArgumentsTheChildReadsEnvironmentAndFileItself() {
        assertThat(ChildSettings.ofReset(daemon("daemon"))).isEmpty();
    }
}
