package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.reset.ResettableNode.Release;
import dev.gpuwarden.daemon.reset.ResettableNode.Verified;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The reset of GPUs, step by step. After a failure of any step, and after an interrupt, persistence mode is restored, and the
 * daemon may read the GPUs again. Blocks for as long as the reset takes.
 */
public final class GpuReset {

    /** The step that tests again just before the reset. */
    public static final String GATE = "gate";

    /** A program of the driver that did not run, or refused before it began. In the result after a failure alone. */
    private static final String REFUSED = "refused";

    /** No sign of a reset after nvidia-smi has ended with success. In the result after a failure alone. */
    private static final String PROOF = "proof";

    /** The steps of which a failure is none of the hardware: no GPU was reset, and none was judged. */
    public static final Set<String> BEFORE =
            Set.of("alone", "release", "unused", "recorded", "released", GATE, REFUSED, PROOF);

    /** The step that ends the work of an earlier reset. Its failure is none of this one. */
    public static final String EARLIER = "persistence-earlier";

    private static final String STOPPED = "it was stopped in the middle";
    private static final long POLL_NANOS = 500_000_000;

    /** The daemon tests the lock for a moment. */
    private static final long LEAST_WAIT_NANOS = 1_000_000_000;

    /** @param detail for a user; the cause of a failure */
    public record Step(String name, boolean done, String detail, Duration time) {}

    /** @param steps in their order; those after a failure are missing, except those that undo */
    public record Outcome(boolean success, List<Step> steps) {
        /** Returns true if the reset failed after the GPU was free, so that its hardware or driver may be the cause. */
        public boolean isEvidence() {
            return !success && failure().isPresent() && !isBefore();
        }

        /** Returns true if it failed before the GPU was judged. */
        public boolean isBefore() {
            return failure().filter(step -> BEFORE.contains(step.name())).isPresent();
        }

        /** Returns the first failure; empty after success. */
        public Optional<Step> failure() {
            return steps.stream()
                    .filter(step -> !step.done() && !step.name().equals(EARLIER))
                    .findFirst();
        }
    }

    private final ResettableNode node;
    private final NvidiaSmi smi;
    private final PersistenceRecord record;
    private final PersistenceSwitch persistence;
    private final Duration patience;
    private final Consumer<String> progress;
    private final Clock clock = Clock.systemUTC();
    private final List<Step> steps = new ArrayList<>();

    /** The end of the reset; empty if none was tried, or there is no proof of it. */
    private Optional<Instant> ended = Optional.empty();

    /**
     * @param record of the GPUs whose persistence mode is off for a reset, in a folder that all resets of this node share
     * @param patience the longest wait for another reset, and for processes that hold the GPUs
     * @param progress receives a line at the start of each step
     */
    public GpuReset(
            ResettableNode node,
            NvidiaSmi smi,
            PersistenceRecord record,
            Duration patience,
            Consumer<String> progress) {
        this.node = node;
        this.smi = smi;
        this.record = record;
        this.persistence = new PersistenceSwitch(smi, record);
        this.patience = patience;
        this.progress = progress;
    }

    /** Resets these GPUs together, and ends the work of earlier resets that were killed. */
    public Outcome run(List<String> uuids) throws InterruptedException {
        return alone(() -> {
            boolean success = reset(uuids);
            var unused = restoreEarlier();
            return success;
        });
    }

    /** Turns persistence mode on where resets that were killed have left it off. */
    public Outcome restore() throws InterruptedException {
        return alone(this::restoreEarlier);
    }

    private interface Work {
        boolean succeeds() throws InterruptedException;
    }

    private Outcome alone(Work work) throws InterruptedException {
        Optional<ResetLock> lock = lock();
        if (lock.isEmpty()) {
            return new Outcome(false, List.copyOf(steps));
        }
        try {
            boolean success = work.succeeds();
            return new Outcome(success, List.copyOf(steps));
        } finally {
            lock.get().close();
        }
    }

    private boolean reset(List<String> uuids) throws InterruptedException {
        Reading<Release> released = released(uuids);
        boolean success = false;
        if (released instanceof Reading.Present<Release> present) {
            try (Release release = present.value()) {
                if (unused() && recorded(uuids)) {
                    try {
                        success = persistenceOff(uuids)
                                && stillReleased(release)
                                && mayReset()
                                && smiReset(uuids)
                                && verified(uuids);
                    } finally {
                        success &= persistenceOn();
                    }
                }
            }
        }
        acknowledge(uuids, success);
        return success && steps.stream().allMatch(Step::done);
    }

    /** Takes the lock of this node, and reads what an earlier reset has left. */
    private Optional<ResetLock> lock() throws InterruptedException {
        progress.accept("no other reset may run");
        long start = System.nanoTime();
        long most = Math.max(patience.toNanos(), LEAST_WAIT_NANOS);
        try {
            Optional<ResetLock> lock = ResetLock.tryTake(record.folder());
            while (lock.isEmpty() && System.nanoTime() - start < most) {
                pause();
                lock = ResetLock.tryTake(record.folder());
            }
            Optional<String> failure = lock.isEmpty()
                    ? Optional.of("expected no other reset of this node, and one still runs; wait for its end")
                    : persistence.open();
            if (failure.isEmpty()) {
                return lock;
            }
            lock.ifPresent(ResetLock::close);
            record("alone", start, failure, "");
        } catch (IOException e) {
            record(
                    "alone",
                    start,
                    Optional.of("the lock of the resets of this node cannot be taken in "
                            + DriverRoot.onHost(record.folder()) + ": " + FileErrors.why(e)
                            + "; name a folder of the node that can be written with --reset.state"),
                    "");
        }
        return Optional.empty();
    }

    /** Ends the work of earlier resets. One that a signal stops leaves it to the next. */
    private boolean restoreEarlier() throws InterruptedException {
        if (persistence.earlier().isEmpty() || Thread.currentThread().isInterrupted()) {
            return persistence.earlier().isEmpty();
        }
        progress.accept("persistence mode on again");
        long start = System.nanoTime();
        PersistenceSwitch.Result result =
                persistence.restoreEarlier(node.persistenceModes().keySet());
        return record(EARLIER, start, result.failure(), result.detail());
    }

    private Reading<Release> released(List<String> uuids) throws InterruptedException {
        progress.accept("the daemon lets go");
        long start = System.nanoTime();
        Reading<Release> release = node.release(uuids);
        record(
                "release",
                start,
                release instanceof Reading.Absent<Release> absent ? Optional.of(absent.detail()) : Optional.empty(),
                release.asOptional().map(Release::text).orElse(""));
        return release;
    }

    private boolean unused() throws InterruptedException {
        progress.accept("no process may hold the GPU");
        long start = System.nanoTime();
        while (true) {
            Reading<List<String>> holders = node.holders(false);
            if (holders instanceof Reading.Absent<List<String>> absent) {
                return record("unused", start, Optional.of("it is not known who holds the GPU: " + absent.text()), "");
            }
            List<String> names = holders.asOptional().orElseThrow();
            if (names.isEmpty()) {
                return record("unused", start, Optional.empty(), "no process holds the GPU");
            }
            if (System.nanoTime() - start >= patience.toNanos()) {
                return record(
                        "unused",
                        start,
                        Optional.of("expected no process, and still open by " + String.join(", ", names)
                                + "; end them, or drain the node"),
                        "");
            }
            pause();
        }
    }

    private static void pause() throws InterruptedException {
        LockSupport.parkNanos(POLL_NANOS);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    /** Records what is turned off before it is, since this process may be killed in between. */
    private boolean recorded(List<String> uuids) {
        long start = System.nanoTime();
        return written(start, persistence.announce(uuids, node.persistenceModes()));
    }

    private boolean written(long start, Optional<String> failure) {
        return failure.isEmpty() || record("recorded", start, failure, "");
    }

    private boolean persistenceOff(List<String> uuids) throws InterruptedException {
        progress.accept("persistence mode off");
        long start = System.nanoTime();
        PersistenceSwitch.Result off = persistence.off(uuids);
        return record(
                off.failure().isEmpty() || off.judged() ? "persistence-off" : REFUSED,
                start,
                off.failure(),
                off.detail());
    }

    private boolean stillReleased(Release release) {
        Optional<String> lost = release.lost();
        return lost.isEmpty() || record("released", System.nanoTime(), lost, "");
    }

    private boolean mayReset() throws InterruptedException {
        long start = System.nanoTime();
        Optional<String> withheld = node.withheld();
        return withheld.isEmpty() || record(GATE, start, withheld, "");
    }

    /** Resets. Exit code 0 alone is no proof: nvidia-smi must report each GPU. */
    private boolean smiReset(List<String> uuids) {
        progress.accept("reset");
        long start = System.nanoTime();
        try {
            NvidiaSmi.Result reset = smi.reset(uuids);
            ended = Optional.of(clock.instant());
            if (reset.failure().isPresent() && !reset.judged()) {
                ended = Optional.empty();
                return record(REFUSED, start, reset.refusal(node), "");
            }
            Optional<String> unproven = reset.unproven(node.addresses(uuids), uuids.size());
            if (reset.failure().isPresent() || unproven.isEmpty()) {
                return record("reset", start, reset.failure(), "");
            }
            ended = Optional.empty();
            return record(PROOF, start, unproven, "");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            ended = Optional.of(clock.instant());
            return record("reset", start, Optional.of(STOPPED), "");
        }
    }

    private boolean verified(List<String> uuids) {
        progress.accept("verify");
        long start = System.nanoTime();
        Verified verified;
        try {
            verified = node.verify(uuids);
        } catch (IllegalStateException e) {
            if (!Thread.currentThread().isInterrupted()) {
                throw e;
            }
            return record("verify", start, Optional.of(STOPPED), "");
        }
        if (verified.defects().isEmpty() && verified.unproven().isPresent()) {
            ended = Optional.empty();
            return record(PROOF, start, verified.unproven().map(why -> "no proof of a reset: " + why), "");
        }
        Optional<String> failure =
                verified.defects().isEmpty() ? Optional.empty() : Optional.of(String.join("; ", verified.defects()));
        return record("verify", start, failure, verified.text());
    }

    private boolean persistenceOn() throws InterruptedException {
        long start = System.nanoTime();
        List<PersistenceSwitch.Result> results = persistence.on();
        boolean interrupted = Thread.interrupted();
        boolean all = written(start, persistence.close());
        for (PersistenceSwitch.Result on : results) {
            all &= record("persistence-on", start, on.failure(), on.detail());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return all;
    }

    /**
     * The daemon lifts or raises the fault by this line. One that lifts it has the time at which the reset ended: a fault that came back
     * since stays. A reset that was not tried, or is not proven, has none.
     */
    private void acknowledge(List<String> uuids, boolean success) {
        for (String uuid : ended.isPresent() ? uuids : List.<String>of()) {
            String line = success
                    ? "GPU reset occurred: " + uuid + " at " + ended.get().truncatedTo(ChronoUnit.MILLIS)
                    : "GPU reset executed: " + uuid + ", success: false";
            long start = System.nanoTime();
            record("acknowledge", start, node.acknowledge(line), line);
        }
    }

    private boolean record(String name, long start, Optional<String> failure, String detail) {
        steps.add(
                new Step(name, failure.isEmpty(), failure.orElse(detail), Duration.ofNanos(System.nanoTime() - start)));
        return failure.isEmpty();
    }
}
