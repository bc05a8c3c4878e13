package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.run.SameProgram;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import dev.gpuwarden.daemon.reset.GpuReset;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The run of {@code gpuwarden gpu-reset}.
 *
 * @param process the process that resets
 * @param patience longest wait for processes that hold a GPU
 * @param settings options of the daemon that the command gets too
 * @param bundles folder for the evidence of failures; empty to keep none
 */
record ResetRun(
        RepairProcess process,
        Duration patience,
        Supplier<List<String>> settings,
        Optional<Path> bundles,
        ProgramRunner programs) {

    /** The name of the unit. */
    static final String UNIT = "gpuwarden-gpu-reset";

    /** The reset itself takes 5 minutes at most, and the invasive checks after it some minutes. */
    private static final Duration LONGEST = Duration.ofMinutes(40);

    /** The time in which it turns persistence mode on again after SIGTERM: less than TimeoutStopSec of the daemon's unit. */
    static final Duration UNDO = Duration.ofSeconds(12);

    private static final String STEP = "step ";

    /** Ends the text of a run that has found out nothing about the GPU. */
    private static final String NO_VERDICT = " (no verdict on the GPU)";

    private static final int DEEPEST = 16;
    private static final int LONGEST_ERROR = 400;

    /** @param detail for operators */
    record Result(Outcome outcome, String detail) {}

    /** The time after which a reset counts as one that never ends. */
    Duration longest() {
        return LONGEST.plus(patience);
    }

    /** Resets these GPUs and checks them. Blocks. */
    Result run(Collection<String> uuids) throws InterruptedException {
        return run(command(uuids, System.getenv()));
    }

    /** Turns persistence mode on where a reset that was killed has left it off. Blocks. */
    Result restore() throws InterruptedException {
        return run(command(List.of("--restore"), System.getenv()));
    }

    private Result run(List<String> command) throws InterruptedException {
        ChildRun run = programs.run(command, Path.of("/"), System.getenv(), longest(), ChildRun.Stop.after(UNDO));
        if (run.end() instanceof ChildRun.End.Exited exited) {
            return result(exited.code(), run.out(), run.err());
        }
        String why = run.end() instanceof ChildRun.End.CutOff cut
                ? "gpu-reset " + cut.why()
                : "gpu-reset did not start: " + ((ChildRun.End.NotStarted) run.end()).why();
        return new Result(Outcome.HELD, why + NO_VERDICT);
    }

    List<String> command(Collection<String> uuids, Map<String, String> environment) {
        List<String> command = new ArrayList<>(SameProgram.command());
        command.add("gpu-reset");
        uuids.stream().sorted().forEach(command::add);
        command.addAll(List.of("--arm", "--output=json", "--patience=" + Durations.text(patience)));
        command.addAll(settings.get());
        bundles.ifPresent(folder -> command.add("--reset.bundle=" + folder));
        return process.command(UNIT, List.of(), command, environment);
    }

    /** Returns the result. Only a step that judged the GPU can fail it: without a report nothing was found out about the hardware. */
    static Result result(int code, String out, String err) {
        if (out.isBlank()) {
            return new Result(Outcome.HELD, "gpu-reset ended with code " + code + ": " + lastLine(err) + NO_VERDICT);
        }
        try {
            Map<String, @Nullable Object> report = JsonReader.ofDepth(DEEPEST).readObject(out);
            if (code == 0 && Boolean.TRUE.equals(report.get("success"))) {
                return new Result(Outcome.SUCCEEDED, detail(report, "verify"));
            }
            Optional<String> step = failedStep(report);
            if (step.isEmpty()) {
                return new Result(
                        Outcome.HELD,
                        "gpu-reset ended with code " + code + ", and no step of its report failed" + NO_VERDICT);
            }
            Outcome outcome = isBefore(step.get()) ? Outcome.HELD : Outcome.FAILED;
            String evidence = report.get("evidence") instanceof String text ? "; " + text : "";
            return new Result(outcome, STEP + step.get() + ": " + detail(report, step.get()) + evidence);
        } catch (IOException e) {
            return new Result(
                    Outcome.HELD,
                    "gpu-reset ended with code " + code + ", and its report is wrong: " + e.getMessage() + NO_VERDICT);
        }
    }

    /** Returns the result that the record has of a run, whose attempt no daemon has ended. */
    static Result recorded(Step run) {
        String detail = run.detail();
        boolean judged = detail.startsWith(STEP)
                && !isBefore(detail.substring(STEP.length()).split(":", 2)[0]);
        return new Result(run.done() ? Outcome.SUCCEEDED : judged ? Outcome.FAILED : Outcome.HELD, detail);
    }

    private static boolean isBefore(String step) {
        return GpuReset.BEFORE.contains(step);
    }

    private static Optional<String> failedStep(Map<String, @Nullable Object> report) {
        return JsonTrees.objects(report, "steps").stream()
                .filter(step -> Boolean.FALSE.equals(step.get("done")))
                .map(step -> String.valueOf(step.get("name")))
                .findFirst();
    }

    private static String detail(Map<String, @Nullable Object> report, String name) {
        return JsonTrees.objects(report, "steps").stream()
                .filter(step -> name.equals(step.get("name")))
                .map(step -> String.valueOf(step.get("detail")))
                .findFirst()
                .orElse("without a detail");
    }

    private static String lastLine(String err) {
        String text = err.strip().replaceAll("\\p{Cntrl}+", " ");
        return text.length() > LONGEST_ERROR ? text.substring(text.length() - LONGEST_ERROR) : text;
    }
}
