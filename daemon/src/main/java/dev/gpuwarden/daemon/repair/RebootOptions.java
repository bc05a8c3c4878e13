package dev.gpuwarden.daemon.repair;

import java.time.Duration;
import picocli.CommandLine.Option;

/** The settings of reboots of this server. */
final class RebootOptions {

    private static final Duration LONGEST = Duration.ofMinutes(2);

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

    /** @param evidence collects before each reboot */
    RebootRun run(EvidenceRun evidence) {
        return new RebootRun(RebootRun.SYSTEMD, LONGEST, evidence);
    }
}
