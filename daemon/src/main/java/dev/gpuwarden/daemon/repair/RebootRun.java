package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.ManagerProgram;
import dev.gpuwarden.checks.child.ProgramRunner;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The request of a reboot of this server, by systemd or by a program of the user.
 *
 * @param command the program and its arguments
 * @param longest limit of the program, after which it is ended
 */
record RebootRun(List<String> command, Duration longest, EvidenceRun evidence, ProgramRunner programs) {

    /** The program where the user has none. */
    static final List<String> SYSTEMD = List.of("systemctl", "reboot");

    /** The exit code of a program that a signal has ended is this and the number of the signal. */
    private static final int SIGNALS = 128;

    private static final int MOST_SIGNAL = 64;

    RebootRun {
        command = List.copyOf(command);
    }

    /**
     * Returns true if no reboot can follow. A program that a signal or its limit has ended may have requested one: a shutdown ends the
     * programs of this daemon too.
     */
    static boolean refused(ManagerProgram request) {
        return !request.ran()
                || request.run().end() instanceof ChildRun.End.Exited exited
                        && exited.code() != 0
                        && (exited.code() <= SIGNALS || exited.code() > SIGNALS + MOST_SIGNAL);
    }

    /** Requests the reboot. Blocks up to the limit. Success is no proof: another boot ID is. */
    ManagerProgram request() throws InterruptedException {
        return ManagerProgram.run(programs, command, longest, Map.of());
    }

    /** Returns the plan, which continues "reboot … ". */
    String text() {
        return "by " + String.join(" ", command) + ", after an archive of evidence in " + evidence.folder();
    }
}
