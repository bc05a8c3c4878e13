package dev.gpuwarden.checks.access;

import dev.gpuwarden.checks.GpuGrants;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * A check with a load on GPUs that runs in this process or in a child process, with the same verdicts. A child that ends without a
 * result, or crashes, costs its result alone: what it had proven stands, and what the check keeps stays. A crash becomes a fault that keeps the
 * check off these GPUs.
 */
public record IsolatedCheck(HealthCheck check, Isolation isolation, ChildCheck child, CrashedChecks crashed)
        implements HealthCheck {

    /** The part of the deadline that is kept for the end of a child. */
    private static final Duration FOR_THE_END = Duration.ofSeconds(3);

    /** A child needs some seconds to start. With less time, the other GPUs are not measured once more. */
    private static final Duration SHORTEST = Duration.ofSeconds(20);

    @Override
    public CheckInfo info() {
        return check.info();
    }

    @Override
    public Duration deadline() {
        return check.deadline();
    }

    @Override
    public GpuLoad load() {
        return check.load();
    }

    @Override
    public List<Finding> run(CheckContext context) {
        Optional<String> because = isolation.childBecause();
        return because.isPresent() ? inChild(context, because.get()) : check.run(context);
    }

    private List<Finding> inChild(CheckContext context, String because) {
        List<GpuSnapshot> gpus = context.node().gpus().stream()
                .filter(gpu ->
                        gpu.state() == GpuState.ANSWERING && gpu.identity().uuid() instanceof Reading.Present<String>)
                .toList();
        String where = " (in a child process: " + because + ")";
        try (GpuGrants grants = GpuGrants.request(context, check, gpus)) {
            long end = System.nanoTime() + deadline().minus(FOR_THE_END).toNanos();
            List<GpuSnapshot> left = grants.gpus();
            List<GpuSnapshot> measured = left;
            Reading<List<Finding>> result = Reading.of(List.of());
            boolean complete = true;
            boolean again = !left.isEmpty();
            while (again) {
                context.progress("measurements in a child process", 0, 0);
                Duration time = Duration.ofNanos(end - System.nanoTime());
                measured = left;
                result = measured(context, left, time, grants.withdrawn(left), where);
                List<GpuSnapshot> kept = grants.giveUpWithdrawn(left);
                complete = kept.size() == left.size();
                again = !complete
                        && !kept.isEmpty()
                        && result instanceof Reading.Absent<?> none
                        && none.code() == 0
                        && end - System.nanoTime() > SHORTEST.toNanos();
                left = kept;
            }
            Reading<List<Finding>> last = result;
            List<GpuSnapshot> ofLast = measured;
            boolean all = complete;
            return EachGpu.answering(
                    context.node(),
                    // A crash comes first: it frees the GPU for a program that takes it in the same moment.
                    gpu -> last instanceof Reading.Absent<?> crash && crash.code() != 0 && ofLast.contains(gpu)
                            ? unknown("child-crashed", gpu, crash, where)
                            : finding(gpu, grants.refusal(gpu), all, last, where));
        }
    }

    /** Runs a child on these GPUs, and keeps what it has proven and changed, whether or not it has a result. */
    private Reading<List<Finding>> measured(
            CheckContext context, List<GpuSnapshot> granted, Duration time, BooleanSupplier stopped, String where) {
        List<String> uuids =
                granted.stream().map(gpu -> gpu.identity().selector()).toList();
        try {
            ChildCheck.Answer answer = child.run(info().id(), uuids, KeptState.of(context, uuids), time, stopped);
            for (ChildStep step : answer.steps()) {
                step.keep(context, uuids);
                if (!step.last()) {
                    granted.forEach(gpu -> ofChild(step.findings(), gpu, where).ifPresent(context::proven));
                }
            }
            if (answer.result() instanceof Reading.Absent<?> none && none.code() != 0) {
                uuids.forEach(uuid -> crashed.raise(
                        info().id(),
                        uuid,
                        "a child process crashed with code " + none.code() + " while the check " + info().id()
                                + " had work on GPU " + uuid));
            }
            return answer.result();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a child runs the check", e);
        }
    }

    private static Finding unknown(String code, GpuSnapshot gpu, Reading.Absent<?> why, String where) {
        Subject subject = Subject.of(gpu.identity());
        return Finding.unknown(
                code,
                subject,
                subject.label() + ": " + why.text() + where,
                "read the log of the daemon and the kernel log");
    }

    /** @param complete whether no GPU had to be given up during the last run of a child */
    private static Finding finding(
            GpuSnapshot gpu, Optional<Refusal> refusal, boolean complete, Reading<List<Finding>> result, String where) {
        Subject subject = Subject.of(gpu.identity());
        if (refusal.isPresent()) {
            return Finding.skipped(
                    refusal.get().code(),
                    subject,
                    subject.label() + ": " + refusal.get().text() + where);
        }
        if (result instanceof Reading.Absent<?> none) {
            return complete
                    ? unknown("not-measured", gpu, none, where)
                    : Finding.skipped(
                            "check-ended", subject, subject.label() + ": another GPU had to be given up" + where);
        }
        return ofChild(result.asOptional().orElseThrow(), gpu, where)
                .orElseGet(() -> Finding.skipped(
                        "not-measured", subject, subject.label() + ": the child has no result of this GPU" + where));
    }

    /** Returns the child's finding of this GPU. Its own name of the GPU does not count. */
    private static Optional<Finding> ofChild(List<Finding> findings, GpuSnapshot gpu, String where) {
        Subject subject = Subject.of(gpu.identity());
        return findings.stream()
                .filter(finding -> finding.subject().entities().equals(subject.entities()))
                .findFirst()
                .map(finding -> new Finding(
                        finding.outcome(),
                        finding.code(),
                        subject,
                        finding.message() + where,
                        finding.remedy(),
                        finding.action(),
                        finding.evidence()));
    }
}
