package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The reset of GPUs, step by step. After a failure of any step, and after an interrupt, persistence mode is restored, and the
 * daemon may read the GPUs again. Blocks for as long as the reset takes.
 */
public final class GpuReset {

    /** The steps before anything was changed: a failure there is none of the hardware. */
    public static final Set<String> BEFORE = Set.of("release", "unused", "released");

    private static final String STOPPED = "it was stopped in the middle";
    private static final long POLL_NANOS = 500_000_000;

    /** The parts of the node that the steps use. */
    public interface Node {
        /**
         * Lets gpuwarden's own daemon let go of the GPUs until the result is closed.
         *
         * @return absent with the cause if it could not
         */
        Reading<Release> release(List<String> uuids) throws InterruptedException;

        /** Returns descriptions of the processes that hold the GPUs open; absent if that cannot be found out. */
        Reading<List<String>> holders();

        /** Checks the GPUs after their reset. */
        Verified verify(List<String> uuids);

        /** Writes a line to the kernel log. Returns the cause of a failure. */
        Optional<String> acknowledge(String line);
    }

    /**
     * The verdict of the checks.
     *
     * @param defects empty for healthy GPUs
     * @param text the number of checks that passed, and the names of those that neither passed nor failed
     */
    public record Verified(List<String> defects, String text) {}

    /** The time in which the daemon does not read the GPUs. */
    public interface Release extends AutoCloseable {
        /** Returns what the step reports. */
        String text();

        /** Returns the cause if the daemon has taken the GPUs again by itself. */
        Optional<String> lost();

        @Override
        void close();
    }

    /** @param detail for a user; the cause of a failure */
    public record Step(String name, boolean done, String detail, Duration time) {}

    /** @param steps in their order; those after a failure are missing, except those that undo */
    public record Outcome(boolean success, List<Step> steps) {
        /** Returns true if the reset failed after the GPU was free, so that its hardware or driver may be the cause. */
        public boolean isEvidence() {
            return !success
                    && failure().filter(step -> !BEFORE.contains(step.name())).isPresent();
        }

        /** Returns the first failure; empty after success. */
        public Optional<Step> failure() {
            return steps.stream().filter(step -> !step.done()).findFirst();
        }
    }

    private final Node node;
    private final NvidiaSmi smi;
    private final Duration patience;
    private final Consumer<String> progress;
    private final List<Step> steps = new ArrayList<>();

    /**
     * @param patience the longest wait for processes that hold the GPUs
     * @param progress receives a line at the start of each step
     */
    public GpuReset(Node node, NvidiaSmi smi, Duration patience, Consumer<String> progress) {
        this.node = node;
        this.smi = smi;
        this.patience = patience;
        this.progress = progress;
    }

    /** Resets these GPUs together. */
    public Outcome run(List<String> uuids) throws InterruptedException {
        Reading<Release> released = released(uuids);
        boolean success = false;
        boolean tried = false;
        if (released instanceof Reading.Present<Release> present) {
            try (Release release = present.value()) {
                if (unused()) {
                    Set<String> restore = new LinkedHashSet<>();
                    try {
                        boolean ready = persistenceOff(uuids, restore) && stillReleased(release);
                        tried = ready;
                        success = ready && step("reset", () -> smiReset(uuids)) && verified(uuids);
                    } finally {
                        success &= restore(restore);
                    }
                }
            }
        }
        acknowledge(uuids, success, tried);
        return new Outcome(success && steps.stream().allMatch(Step::done), List.copyOf(steps));
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
            Reading<List<String>> holders = node.holders();
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
            LockSupport.parkNanos(POLL_NANOS);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    private boolean persistenceOff(List<String> uuids, Set<String> restore) throws InterruptedException {
        progress.accept("persistence mode off");
        long start = System.nanoTime();
        for (String uuid : uuids) {
            NvidiaSmi.Result off = smi.persistenceOff(uuid);
            if (NvidiaSmi.wasOn(off)) {
                restore.add(uuid);
            }
            if (off.failure().isPresent()) {
                return record("persistence-off", start, off.failure(), "");
            }
        }
        return record(
                "persistence-off", start, Optional.empty(), restore.isEmpty() ? "it was off" : "it was on: " + restore);
    }

    private boolean stillReleased(Release release) {
        Optional<String> lost = release.lost();
        return lost.isEmpty() || record("released", System.nanoTime(), lost, "");
    }

    private Optional<String> smiReset(List<String> uuids) {
        try {
            return smi.reset(uuids).failure();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(STOPPED);
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
        Optional<String> failure =
                verified.defects().isEmpty() ? Optional.empty() : Optional.of(String.join("; ", verified.defects()));
        return record("verify", start, failure, verified.text());
    }

    /** Restores persistence mode, also in a thread that was interrupted. */
    private boolean restore(Set<String> uuids) throws InterruptedException {
        boolean interrupted = Thread.interrupted();
        long start = System.nanoTime();
        boolean all = true;
        for (String uuid : uuids) {
            NvidiaSmi.Result on = smi.persistenceOn(uuid);
            all &= record("persistence-on", start, on.failure(), uuid);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return all;
    }

    /** The daemon lifts or raises the fault by this line. A reset that was never tried has none. */
    private void acknowledge(List<String> uuids, boolean success, boolean tried) {
        if (!tried) {
            return;
        }
        for (String uuid : uuids) {
            String line = success ? "GPU reset occurred: " + uuid : "GPU reset executed: " + uuid + ", success: false";
            long start = System.nanoTime();
            record("acknowledge", start, node.acknowledge(line), line);
        }
    }

    private boolean step(String name, Supplier<Optional<String>> action) {
        progress.accept(name);
        long start = System.nanoTime();
        return record(name, start, action.get(), "");
    }

    private boolean record(String name, long start, Optional<String> failure, String detail) {
        steps.add(
                new Step(name, failure.isEmpty(), failure.orElse(detail), Duration.ofNanos(System.nanoTime() - start)));
        return failure.isEmpty();
    }
}
