package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.UserError;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Option;

/** The settings of reboots of this server. */
final class RebootOptions {

    /** The times at which this server may be rebooted. */
    enum Reboot {
        never,
        idle,
        always
    }

    @Option(
            names = "--repair.reboot",
            defaultValue = "never",
            paramLabel = "WHEN",
            description = "Reboot this server if a fault asks for it or a reset has failed: ${COMPLETION-CANDIDATES}."
                    + " idle is only while no process but the daemon holds a GPU (default: ${DEFAULT-VALUE}).")
    Reboot when = Reboot.never;

    @Option(
            names = "--repair.reboot-command",
            split = ",",
            paramLabel = "WORD",
            description = "Program and arguments that reboot this server, such as /usr/local/sbin/power-cycle,--now:"
                    + " without a shell. Exit code 0 is a request; another boot ID within 15 minutes is success"
                    + " (default: systemctl reboot).")
    List<String> words = List.of();

    @Bounds(from = "1ms", to = "10m")
    @Option(
            names = "--repair.reboot-timeout",
            defaultValue = "2m",
            paramLabel = "DURATION",
            description = "Longest run of the program that reboots; then it is ended (default: ${DEFAULT-VALUE}).")
    Duration timeout = Duration.ofMinutes(2);

    /** @throws UserError with the setting */
    void validate() {
        if (words.isEmpty()) {
            return;
        }
        UserProgram.validate("--repair.reboot-command", words);
        if (when == Reboot.never) {
            throw new UserError("--repair.reboot-command: expected --repair.reboot=idle or always with it, seen never");
        }
    }

    /** @param evidence collects before each reboot */
    RebootRun run(EvidenceRun evidence) {
        return new RebootRun(words.isEmpty() ? RebootRun.SYSTEMD : words, timeout, evidence, ProgramRunner.PROCESSES);
    }
}
