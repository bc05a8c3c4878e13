package dev.gpuwarden.daemon.verify;

import dev.gpuwarden.core.check.CheckRegistry;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.verify.Verification.Verdict;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The thread that runs all checks while a part waits for its verification, and ends the fault of each part that is verified. It
 * sleeps while there is none.
 */
public final class RepairVerifier implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(RepairVerifier.class.getName());
    private static final long CLOSE_MILLIS = 500;

    private final CheckRegistry checks;
    private final EventReader faults;
    private final EventWriter writer;
    private final Clock clock;
    private final Duration pause;
    private final Semaphore wake = new Semaphore(1);
    private final Map<List<?>, List<String>> logged = new HashMap<>();
    private final EventReader.Subscription subscription;
    private final Thread thread;
    private volatile boolean stopped;

    private RepairVerifier(CheckRegistry checks, EventReader faults, EventWriter writer, Clock clock, Duration pause) {
        this.checks = checks;
        this.faults = faults;
        this.writer = writer;
        this.clock = clock;
        this.pause = pause;
        subscription = faults.listen(change -> {
            // A fault of a check that is over may have been the last obstacle.
            if (change.stored().event().checkName().equals(Verification.EVENT)
                    || change.change().effect() == FaultTable.Effect.CLEARED) {
                wake.release();
            }
        });
        thread = Threads.daemon("gpuwarden-verification", this::run);
    }

    /**
     * Starts the thread.
     *
     * @param pause time between two runs of the checks while a part is not verified
     */
    public static RepairVerifier start(
            CheckRegistry checks, EventReader faults, EventWriter writer, Clock clock, Duration pause) {
        RepairVerifier verifier = new RepairVerifier(checks, faults, writer, clock, pause);
        verifier.thread.start();
        return verifier;
    }

    private void run() {
        try {
            while (!stopped) {
                if (pending().isEmpty()) {
                    logged.clear();
                    wake.acquire();
                } else {
                    look();
                    if (!pending().isEmpty()) {
                        var unused = wake.tryAcquire(pause.toMillis(), TimeUnit.MILLISECONDS);
                    }
                }
                wake.drainPermits();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Set<HealthEvent> pending() {
        Set<HealthEvent> causes = new LinkedHashSet<>();
        faults.faults().stream()
                .filter(Verification::isPending)
                .map(Fault::cause)
                .forEach(causes::add);
        return causes;
    }

    private void look() {
        try {
            List<CheckResult> results = checks.run(List.of());
            for (HealthEvent cause : pending()) {
                Verdict verdict = Verification.verdict(cause, checks.checks(), results);
                if (verdict.open().isEmpty()) {
                    writer.accept(List.of(Verification.end(cause, verdict.text(), clock.instant())), Optional.empty());
                    LOG.log(Level.INFO, "verified: " + cause.entities() + ": " + verdict.text());
                } else if (!verdict.open().equals(logged.put(cause.entities(), verdict.open()))) {
                    LOG.log(
                            Level.WARNING,
                            "not verified since the repair: " + cause.entities() + ": "
                                    + String.join(", ", verdict.open()));
                }
            }
        } catch (RuntimeException e) {
            if (!stopped) {
                LOG.log(Level.ERROR, "a repair could not be verified", e);
            }
        }
    }

    /** Stops within half a second; a run of the checks is left to its runner. */
    @Override
    public void close() {
        stopped = true;
        subscription.close();
        thread.interrupt();
        Threads.join(thread, CLOSE_MILLIS);
    }
}
