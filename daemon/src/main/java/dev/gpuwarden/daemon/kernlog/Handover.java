package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.EventIntake;
import dev.gpuwarden.core.event.EventIntake.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Hands to the store what the ledger holds, until the ledger ends. */
final class Handover implements Runnable {

    private static final System.Logger LOG = System.getLogger(KernelLogMonitor.class.getName());

    /** A fault that cannot be lifted yet is looked at again no sooner. */
    private static final Duration LIFT_PAUSE = Duration.ofSeconds(10);

    private static final Duration FIRST_RETRY = Duration.ofMillis(500);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);

    private final Ledger ledger;
    private final EventIntake intake;
    private final Supplier<List<Fault>> faults;
    private final Duration quiet;
    private final LogProgress progress;
    private final Clock clock;
    private volatile long events;
    private volatile long unstored;

    Handover(
            Ledger ledger,
            EventIntake intake,
            Supplier<List<Fault>> faults,
            Duration quiet,
            LogProgress progress,
            Clock clock) {
        this.ledger = ledger;
        this.intake = intake;
        this.faults = faults;
        this.quiet = quiet;
        this.progress = progress;
        this.clock = clock;
    }

    @Override
    public void run() {
        Ledger.Batch batch;
        do {
            batch = ledger.take();
            deliver(batch);
        } while (!batch.last());
    }

    /** Until the store has it, or this ends. What the store cannot write it keeps; here waits what it cannot even take. */
    private void deliver(Ledger.Batch batch) {
        Duration pause = FIRST_RETRY;
        boolean again = true;
        while (again) {
            try {
                hand(batch);
                return;
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "events of the kernel log could not be handed over", e);
                progress.error("events could not be handed over: " + e);
            }
            again = ledger.pause(pause);
            pause = pause.multipliedBy(2);
            pause = pause.compareTo(LONGEST_RETRY) < 0 ? pause : LONGEST_RETRY;
        }
    }

    private void hand(Ledger.Batch batch) {
        // First, so that no event is stored whose GPU the next process would not know.
        batch.names().ifPresent(position -> intake.accept(List.of(), Optional.of(position)));
        List<Fault> current = faults.get();
        List<HealthEvent> all = new ArrayList<>(FaultPolicy.neverLess(batch.news(), current));
        if (batch.lift()) {
            all.addAll(FaultPolicy.lifts(current, batch.news(), quiet, clock.instant()));
        }
        if (!all.isEmpty() || batch.position().isPresent()) {
            unstored += intake.accept(all, batch.position()).stream()
                    .filter(receipt -> receipt == Receipt.HELD || receipt == Receipt.REFUSED)
                    .count();
        }
        events += all.size();
        ledger.lookIn(FaultPolicy.nextLift(faults.get(), quiet).map(this::until));
    }

    private Duration until(Instant lift) {
        Duration pause = quiet.compareTo(LIFT_PAUSE) < 0 ? quiet : LIFT_PAUSE;
        Duration until = Duration.between(clock.instant(), lift);
        return until.compareTo(pause) < 0 ? pause : until;
    }

    long events() {
        return events;
    }

    /** Of those, how many the store could not write at once. */
    long unstored() {
        return unstored;
    }
}
