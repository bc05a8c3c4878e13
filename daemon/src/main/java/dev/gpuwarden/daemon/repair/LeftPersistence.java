package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.daemon.reset.PersistenceRecord;
import dev.gpuwarden.daemon.reset.ResetLock;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/** Persistence mode that a reset of this server has left off because it was killed. One thread calls it. */
final class LeftPersistence {

    private static final System.Logger LOG = System.getLogger(LeftPersistence.class.getName());

    private static final Duration RETRY = Duration.ofMinutes(10);

    private final Path folder;
    private final PersistenceRecord record;
    private final ResetRun run;
    private final Clock clock;
    private Instant next = Instant.MIN;
    private String failure = "";

    /** @param folder of the lock and of the record */
    LeftPersistence(Path folder, PersistenceRecord record, ResetRun run, Clock clock) {
        this.folder = folder;
        this.record = record;
        this.run = run;
        this.clock = clock;
    }

    /** Returns true while a process resets GPUs of this server, also one that this daemon did not start. */
    boolean isResetting() {
        try {
            return ResetLock.isHeld(folder);
        } catch (IOException e) {
            // A reset needs the same lock, so none runs and the next one fails with this cause.
            LOG.log(Level.WARNING, "the lock of resets in " + folder + " cannot be read: " + FileErrors.why(e));
            return false;
        }
    }

    /**
     * Turns it on, if a reset has left it off that is over. Blocks.
     *
     * @param armed false for a dry run, which only names the GPUs
     * @return the task of an operator; empty if nothing is left to do
     */
    Optional<String> restore(boolean armed) throws InterruptedException {
        Set<String> left;
        try {
            left = record.read();
        } catch (IOException e) {
            return Optional.of("repair the record of resets: " + e.getMessage());
        }
        if (left.isEmpty() || isResetting()) {
            return Optional.empty();
        }
        String gpus = "persistence mode of " + String.join(", ", left) + ", which a reset that was killed has left off";
        if (armed && !clock.instant().isBefore(next)) {
            ResetRun.Result result = run.restore();
            if (result.outcome() == RepairAttempt.Outcome.SUCCEEDED) {
                LOG.log(Level.INFO, "turned on: " + gpus);
                return Optional.empty();
            }
            failure = ": " + result.detail();
            next = clock.instant().plus(RETRY);
        }
        return Optional.of("turn on " + gpus + " (gpuwarden gpu-reset --restore --arm)" + failure);
    }
}
