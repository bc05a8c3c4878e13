package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ManagerProgram;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** The return of a drained node to Slurm, in the record of the last repair. Blocks for Slurm. */
record SlurmReturn(SlurmNode node, RepairLog log, Clock clock) {

    private static final System.Logger LOG = System.getLogger(SlurmReturn.class.getName());

    /**
     * Resumes the node, if its drain is this daemon's. A resume that fails is requested again by the next call.
     *
     * @param faulty returns true if a fault holds the node back now
     * @throws IOException if the disk does not take the intent; then Slurm resumes nothing
     */
    void resume(BooleanSupplier faulty) throws IOException, InterruptedException {
        List<RepairAttempt> attempts = log.attempts();
        RepairAttempt last = attempts.get(attempts.size() - 1);
        long start = System.nanoTime();
        Optional<SlurmNode.State> state = node.state();
        if (state.isEmpty() || faulty.getAsBoolean()) {
            return;
        }
        if (!state.get().isOurs()) {
            log.record(last, RepairAttempt.RESUME, node.name(), true, "its drain is not this daemon's", start);
            return;
        }
        // Once: a resume that Slurm refuses is requested again each turn, and the record is bounded.
        if (last.last(RepairAttempt.RESUME).filter(step -> !step.done()).isEmpty()) {
            log.step(
                    last,
                    new Step(RepairAttempt.RESUME, node.name(), false, "requested", Duration.ZERO, clock.instant()));
        }
        ManagerProgram resume = node.resume();
        if (resume.succeeded()) {
            log.record(last, RepairAttempt.RESUME, node.name(), true, resume.text(), start);
        }
        LOG.log(resume.succeeded() ? Level.INFO : Level.WARNING, "verified, so Slurm resumes: " + resume.text());
    }
}
