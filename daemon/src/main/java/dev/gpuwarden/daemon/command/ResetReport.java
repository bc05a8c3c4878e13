package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.reset.GpuReset;
import dev.gpuwarden.daemon.reset.KernelClients;
import dev.gpuwarden.daemon.reset.ResetEvidence.Kept;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The result of a reset, or its plan, as text and as gpuwarden.reset/v1 (docs/reference/reset-json.md).
 *
 * @param outcome "dry-run", "reset", "restored" or "failed"
 * @param evidence the place of the evidence, or the cause why none was kept; empty if none was requested
 */
record ResetReport(ResetTargets targets, String outcome, List<GpuReset.Step> steps, Optional<Kept> evidence) {

    private static final String SCHEMA = "gpuwarden.reset/v1";
    private static final String PLANNED = "dry-run";
    private static final String RESTORED = "restored";

    /**
     * @param holders the processes that hold the GPUs now
     * @param left GPUs whose persistence mode a reset that was killed has left off
     */
    static ResetReport plan(
            ResetTargets targets, String command, Reading<ResetNode.Before> holders, Reading<Set<String>> left) {
        List<GpuReset.Step> steps = new ArrayList<>();
        steps.add(planned("release", "the daemon lets go of " + targets.text()));
        steps.add(planned("unused", holding(holders)));
        steps.add(planned("persistence-off", "nvidia-smi -pm 0 for each GPU"));
        steps.add(planned("reset", command));
        steps.add(planned("verify", "the GPU answers, and every passive check of it passes"));
        steps.add(planned("persistence-on", "where it was on"));
        steps.add(planned("acknowledge", "a line in the kernel log for each GPU"));
        if (!left.equals(Reading.of(Set.<String>of()))) {
            steps.add(planned(GpuReset.EARLIER, leaving(left)));
        }
        return new ResetReport(targets, PLANNED, steps, Optional.empty());
    }

    /** Returns the plan with the clients of the driver in the kernel, for which nvidia-smi may refuse the reset. */
    ResetReport expecting(Reading<KernelClients> kernel) {
        Optional<String> why = kernel instanceof Reading.Present<KernelClients> present
                ? present.value().expected().map(clients -> "; nvidia-smi may refuse it: " + clients)
                : Optional.of("; which kernel modules use the driver is not known: "
                        + ((Reading.Absent<KernelClients>) kernel).text());
        return new ResetReport(
                targets,
                outcome,
                steps.stream()
                        .map(step -> step.name().equals("reset")
                                ? planned(step.name(), step.detail() + why.orElse(""))
                                : step)
                        .toList(),
                evidence);
    }

    /** Returns the plan of a command that resets no GPU. */
    static ResetReport restorePlan(Reading<Set<String>> left) {
        return new ResetReport(
                new ResetTargets(List.of()),
                PLANNED,
                List.of(planned(GpuReset.EARLIER, leaving(left))),
                Optional.empty());
    }

    private static String leaving(Reading<Set<String>> left) {
        if (left instanceof Reading.Present<Set<String>> present) {
            return present.value().isEmpty()
                    ? "no reset has left it off"
                    : "nvidia-smi -pm 1 for " + String.join(", ", new TreeSet<>(present.value()))
                            + ", which a reset that was killed, or that runs now, has left off";
        }
        return "the reset fails: " + ((Reading.Absent<?>) left).detail();
    }

    private static String holding(Reading<ResetNode.Before> holders) {
        if (holders instanceof Reading.Present<ResetNode.Before> present) {
            boolean daemon = present.value().daemon();
            if (present.value().others().isEmpty()) {
                return daemon ? "free, but for gpuwarden itself (it lets go first)" : "no process holds the GPUs now";
            }
            return (daemon ? "" : "the daemon excepted, ") + "the reset fails while held by "
                    + String.join(", ", present.value().others());
        }
        return "the processes that hold the GPUs could not be found: " + ((Reading.Absent<?>) holders).text();
    }

    private static GpuReset.Step planned(String name, String detail) {
        return new GpuReset.Step(name, false, detail, Duration.ZERO);
    }

    static ResetReport of(ResetTargets targets, GpuReset.Outcome outcome) {
        String end = targets.gpus().isEmpty() ? RESTORED : "reset";
        return new ResetReport(targets, outcome.success() ? end : "failed", outcome.steps(), Optional.empty());
    }

    ResetReport with(Kept kept) {
        return new ResetReport(targets, outcome, steps, Optional.of(kept));
    }

    private boolean isPlan() {
        return outcome.equals(PLANNED);
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("outcome", outcome);
        tree.put("success", outcome.equals("reset") || outcome.equals(RESTORED));
        tree.put("gpus", targets.gpus().stream().map(ResetReport::gpu).toList());
        tree.put("steps", steps.stream().map(this::step).toList());
        evidence.ifPresent(kept -> tree.put("evidence", kept.text()));
        return tree;
    }

    private static Map<String, Object> gpu(GpuIdentity gpu) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("index", gpu.index());
        tree.put("uuid", gpu.selector());
        gpu.pci().asOptional().ifPresent(pci -> tree.put("pci", pci.toString()));
        return tree;
    }

    private Map<String, Object> step(GpuReset.Step step) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", step.name());
        tree.put("done", step.done());
        tree.put("detail", step.detail());
        if (!isPlan()) {
            tree.put("seconds", step.time().toMillis() / 1000.0);
        }
        return tree;
    }

    void print(PrintWriter out) {
        Table table = isPlan() ? new Table("STEP", "DETAIL") : new Table("STEP", "RESULT", "TIME", "DETAIL");
        for (GpuReset.Step step : steps) {
            if (isPlan()) {
                table.row(step.name(), step.detail());
            } else {
                table.row(
                        step.name(),
                        Table.styled(step.done() ? Table.Style.GOOD : Table.Style.BAD, step.done() ? "done" : "failed"),
                        Durations.text(Duration.ofMillis(step.time().toMillis())),
                        step.detail());
            }
        }
        table.print(out);
        evidence.ifPresent(kept -> out.println(kept.text()));
        if (isPlan()) {
            out.println("Nothing was changed. With --arm, "
                    + (targets.gpus().isEmpty() ? "persistence mode is restored." : targets.text() + " is reset."));
        }
    }

    /** Returns one line for the log. */
    String text() {
        String left = steps.stream()
                .filter(step -> !step.done() && step.name().equals(GpuReset.EARLIER))
                .map(step -> "; persistence mode that an earlier reset left off: " + step.detail())
                .findFirst()
                .orElse("");
        if (targets.gpus().isEmpty()) {
            return "persistence mode: "
                    + (steps.isEmpty()
                            ? "no reset has left it off"
                            : steps.get(0).name()
                                    + (steps.get(0).done() ? " done: " : " failed: ")
                                    + steps.get(0).detail());
        }
        return steps.stream()
                        .filter(step -> !step.done() && !step.name().equals(GpuReset.EARLIER))
                        .findFirst()
                        .map(step ->
                                targets.text() + ": the reset failed at the step " + step.name() + ": " + step.detail())
                        .map(text ->
                                text + evidence.map(kept -> "; " + kept.text()).orElse(""))
                        .orElse(targets.text() + ": reset, and healthy")
                + left;
    }
}
