package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ManagerProgram;
import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.event.FaultFields;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.ResetRun.Result;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The run of the user's program for a fault: without a shell, with the rights of the daemon, and with the fault as JSON in the
 * variable FAULT.
 *
 * @param command the program and its arguments
 * @param drains true to drain Slurm and stop the units before, as before a reset
 */
record HookRun(List<String> command, Duration longest, boolean drains, ProgramRunner programs) {

    /** The variable; the Job of a template in a cluster has it too (docs/operating/repair.md). */
    static final String FAULT = "FAULT";

    /** Begins the detail of a program that did not start, so that it changed nothing. */
    private static final String NOT_RUN = "did not run: ";

    private static final int LONGEST_DETAIL = 1000;

    HookRun {
        command = List.copyOf(command);
    }

    /** Runs the program. Blocks. Exit code 0 is success; the checks prove it. */
    Result run(RepairAttempt attempt, HealthEvent cause) throws InterruptedException {
        ManagerProgram run = ManagerProgram.run(programs, command, longest, Map.of(FAULT, fault(attempt, cause)));
        String out = run.run().out().strip().replaceAll("\\p{Cntrl}+", " ");
        if (!run.ran()) {
            return new Result(Outcome.HELD, Text.truncate(NOT_RUN + run.text(), LONGEST_DETAIL));
        }
        return new Result(
                run.succeeded() ? Outcome.SUCCEEDED : Outcome.FAILED,
                Text.truncate(run.text() + (out.isEmpty() ? "" : "; it wrote: " + out), LONGEST_DETAIL));
    }

    /** Returns the result that the record has of a run, whose attempt no daemon has ended. */
    static Result recorded(RepairAttempt.Step run) {
        Outcome failure = run.detail().startsWith(NOT_RUN) ? Outcome.HELD : Outcome.FAILED;
        return new Result(run.done() ? Outcome.SUCCEEDED : failure, run.detail());
    }

    static String fault(RepairAttempt attempt, HealthEvent cause) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("node", cause.nodeName());
        tree.put("id", attempt.id());
        tree.put(
                "gpus",
                attempt.subjects().stream()
                        .filter(each -> each.startsWith("GPU-"))
                        .sorted()
                        .toList());
        tree.put("why", attempt.why());
        tree.putAll(FaultFields.of(cause));
        return Output.jsonLine(tree);
    }
}
