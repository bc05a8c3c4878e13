package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.ActionName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The settings of the user's own program for repairs of this server. */
final class HookOptions {

    /** The users of GPUs that leave before the program runs. */
    enum Drain {
        all,
        none
    }

    @Option(
            names = "--repair.hook",
            split = ",",
            paramLabel = "WORD",
            description = "Program and arguments to run for the actions of --repair.hook-actions, such as"
                    + " /usr/local/sbin/open-ticket,--queue,gpu: without a shell, with the fault as JSON in FAULT."
                    + " Exit code 0 is success, and the checks prove it.")
    List<String> words = List.of();

    @Option(
            names = "--repair.hook-actions",
            split = ",",
            paramLabel = "ACTION",
            description = "Recommended actions for which the hook runs instead of another repair, such as"
                    + " CONTACT_SUPPORT or CUSTOM:NAME.")
    List<String> actions = List.of();

    @Bounds(from = "1ms", to = "1h")
    @Option(
            names = "--repair.hook-timeout",
            defaultValue = "10m",
            paramLabel = "DURATION",
            description = "Longest run of the hook; then it is ended, and has failed (default: ${DEFAULT-VALUE}).")
    Duration timeout = Duration.ofMinutes(10);

    @Option(
            names = "--repair.hook-drain",
            defaultValue = "all",
            paramLabel = "WHAT",
            description =
                    "Users of GPUs that leave before the hook: ${COMPLETION-CANDIDATES}. all drains Slurm and stops the"
                            + " units, as before a reset (default: ${DEFAULT-VALUE}).")
    Drain drain = Drain.all;

    /** @throws UserError with the setting */
    void validate() {
        if (words.isEmpty() != actions.isEmpty()) {
            throw new UserError("--repair.hook and --repair.hook-actions: expected both or none, seen one of them");
        }
        if (words.isEmpty()) {
            return;
        }
        UserProgram.validate("--repair.hook", words);
        for (String action : actions) {
            if (!ActionName.isKnown(action)) {
                throw new UserError(
                        "--repair.hook-actions: expected " + ActionName.expected() + ", seen '" + action + "'");
            }
        }
    }

    /** Returns the program; empty without one. */
    Optional<HookRun> run() {
        return words.isEmpty()
                ? Optional.empty()
                : Optional.of(new HookRun(words, timeout, drain == Drain.all, ProgramRunner.PROCESSES));
    }
}
