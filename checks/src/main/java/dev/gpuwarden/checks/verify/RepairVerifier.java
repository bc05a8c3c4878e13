package dev.gpuwarden.checks.verify;

import dev.gpuwarden.checks.verify.Verification.Verdict;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckRegistry;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.util.LoopThread;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The thread that runs all checks while a part waits for its verification, and ends the fault of each part that is verified. A
 * GPU gets work once its other checks have passed. The thread sleeps while no part waits.
 */
public final class RepairVerifier implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(RepairVerifier.class.getName());
    private static final Duration LONGEST_CLOSE = Duration.ofMillis(500);

    private final CheckRegistry checks;
    private final LoadChecks work;
    private final EventReader faults;
    private final EventWriter writer;
    private final Clock clock;
    private final Duration pause;
    private final LoopThread thread = new LoopThread("gpuwarden-verification", this::turn);
    private final Map<List<?>, List<String>> logged = new HashMap<>();
    private final PartAttempts attempts = new PartAttempts();
    private final EventReader.Subscription subscription;

    /**
     * @param checks those that the daemon runs
     * @param work those that run for the verification of GPUs alone
     * @param pause time between two runs of the checks while a part is not verified
     */
    public RepairVerifier(
            CheckRegistry checks,
            LoadChecks work,
            EventReader faults,
            EventWriter writer,
            Clock clock,
            Duration pause) {
        this.checks = checks;
        this.work = work;
        this.faults = faults;
        this.writer = writer;
        this.clock = clock;
        this.pause = pause;
        subscription = faults.listen(change -> {
            // A fault of a check that is over may have been the last obstacle.
            HealthEvent event = change.stored().event();
            if (event.checkName().equals(Verification.EVENT)
                    ? Verification.isCause(event)
                    : change.change().effect() == FaultTable.Effect.CLEARED) {
                thread.wake();
            }
        });
    }

    /** Starts the thread. */
    public RepairVerifier start() {
        thread.start();
        return this;
    }

    private long turn() {
        if (pending().isEmpty()) {
            logged.clear();
            attempts.clear();
            store(OpenChecks.withoutPart(List.of(), faults.faults(), clock.instant()));
            return LoopThread.UNTIL_WOKEN;
        }
        look();
        return pending().isEmpty() ? 0 : pause.toNanos();
    }

    private Set<HealthEvent> pending() {
        Set<HealthEvent> causes = new LinkedHashSet<>();
        faults.faults().stream()
                .filter(Verification::isPending)
                .map(Fault::cause)
                .filter(Verification::isCause)
                .forEach(causes::add);
        return causes;
    }

    private void look() {
        try {
            List<CheckResult> results = checks.run(List.of());
            runWork(results);
            Set<HealthEvent> pending = pending();
            attempts.pending(pending);
            store(OpenChecks.withoutPart(pending, faults.faults(), clock.instant()));
            pending.forEach(cause -> decide(cause, results));
        } catch (RuntimeException e) {
            if (!thread.isClosed()) {
                LOG.log(Level.ERROR, "a repair could not be verified", e);
            }
        }
    }

    /** Runs the checks with a load on the GPUs that are ready for them. */
    private void runWork(List<CheckResult> results) {
        Set<HealthEvent> pending = pending();
        attempts.pending(pending);
        List<HealthEvent> ready = pending.stream()
                .filter(this::mustCompute)
                .filter(cause -> Verification.verdict(cause, checks.checks(), results)
                        .open()
                        .isEmpty())
                .toList();
        long now = System.nanoTime();
        Map<Set<String>, List<HealthEvent>> due = ready.stream()
                .collect(Collectors.groupingBy(cause -> attempts.of(cause).due(work.checks(), now)));
        due.forEach((checks, causes) -> {
            if (!checks.isEmpty()) {
                List<CheckResult> worked = work.run(
                        checks,
                        gpu -> causes.stream()
                                .anyMatch(cause -> Verification.concerns(
                                        Subject.of(gpu.identity()).entities(), cause)));
                causes.forEach(cause -> attempts.of(cause).ended(cause, worked, System.nanoTime()));
            }
        });
    }

    private boolean mustCompute(HealthEvent cause) {
        return !work.checks().isEmpty() && Verification.mustCompute(cause);
    }

    private void decide(HealthEvent cause, List<CheckResult> results) {
        List<CheckInfo> all = new ArrayList<>(checks.checks());
        List<CheckResult> ended = new ArrayList<>(results);
        if (mustCompute(cause)) {
            List<CheckResult> worked = attempts.of(cause).results();
            all.addAll(work.checks());
            ended.addAll(worked);
            store(OpenChecks.changes(cause, faults.faults(), worked, clock.instant()));
        }
        Verdict verdict = Verification.verdict(cause, all, ended);
        if (verdict.open().isEmpty()) {
            store(List.of(Verification.verified(cause, verdict.text(), clock.instant())));
            attempts.verified(cause);
            LOG.log(Level.INFO, "verified: " + cause.entities() + ": " + verdict.text());
        } else if (!verdict.open().equals(logged.put(cause.entities(), verdict.open()))) {
            LOG.log(
                    Level.WARNING,
                    "not verified since the repair: " + cause.entities() + ": " + String.join(", ", verdict.open()));
        }
    }

    private void store(List<HealthEvent> events) {
        if (!events.isEmpty()) {
            writer.accept(events, Optional.empty());
        }
    }

    /** Stops within half a second; a run of the checks is left to its runner. */
    @Override
    public void close() {
        subscription.close();
        thread.interrupt(LONGEST_CLOSE);
    }
}
