package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.daemon.script.ManagerProgram;
import java.time.Duration;
import java.util.List;

/**
 * The request of a reboot of this server, by systemd.
 *
 * @param command the program and its arguments
 * @param longest limit of the program, after which it is ended and has failed
 */
record RebootRun(List<String> command, Duration longest, EvidenceRun evidence) {

    static final List<String> SYSTEMD = List.of("systemctl", "reboot");

    RebootRun {
        command = List.copyOf(command);
    }

    /** Requests the reboot. Blocks up to the limit. Success is no proof: another boot ID is. */
    ManagerProgram request() throws InterruptedException {
        return ManagerProgram.run(command, longest);
    }

    /** Returns the plan, which continues "reboot … ". */
    String text() {
        return "by " + String.join(" ", command) + ", after an archive of evidence in " + evidence.folder();
    }
}
