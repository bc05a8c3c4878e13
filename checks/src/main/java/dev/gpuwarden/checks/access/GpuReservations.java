package dev.gpuwarden.checks.access;

import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs that checks of this daemon work on. A check with an invasive load gets free GPUs alone, one check at a time,
 * and loses a GPU when another program takes it or when it must be released. Each grant has a record on disk.
 */
public final class GpuReservations implements GpuAccess, GpuRelease, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(GpuReservations.class.getName());

    /** The wait for running work when the daemon stops. */
    private static final Duration CLOSE = Duration.ofSeconds(1);

    /** The time between two questions whether work that hangs has returned. */
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final FreeGpus free;
    private final Optional<InFlightRecords> records;
    private final CrashedChecks crashed;
    private final boolean lightOnBusy;
    private final Isolation isolation;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private final List<Held> grants = new ArrayList<>();
    private final List<Reserved> releases = new ArrayList<>();
    private boolean stopped;

    /**
     * @param records where grants are recorded; empty where events are in memory only
     * @param lightOnBusy whether checks with a light load get GPUs that others hold
     */
    GpuReservations(
            FreeGpus free,
            Optional<InFlightRecords> records,
            CrashedChecks crashed,
            boolean lightOnBusy,
            Isolation isolation) {
        this.free = free;
        this.records = records;
        this.crashed = crashed;
        this.lightOnBusy = lightOnBusy;
        this.isolation = isolation;
    }

    /**
     * Returns the reservations of a daemon, after it has reported what an earlier run left in flight.
     *
     * @param pods the pods that hold GPUs; may block for seconds
     * @param names returns the name of a process for operators
     * @param folder the folder of records; empty where events are in memory only
     */
    public static GpuReservations of(
            NodeSampler sampler,
            Supplier<Reading<GpuHolders>> pods,
            IntFunction<String> names,
            Optional<Path> folder,
            CrashedChecks crashed,
            boolean lightOnBusy,
            Isolation isolation) {
        Optional<InFlightRecords> records = folder.map(InFlightRecords::new);
        try {
            records.ifPresent(crashed::report);
        } catch (UncheckedIOException e) {
            LOG.log(Level.WARNING, "records of checks in flight could not be read: " + e.getCause());
        }
        return new GpuReservations(
                new FreeGpus(sampler::snapshot, pods, FreeGpus::isOwn, names, sampler.watch()),
                records,
                crashed,
                lightOnBusy,
                isolation);
    }

    @Override
    public List<Answer> request(String check, GpuLoad load, List<GpuSnapshot> gpus) {
        endReturned();
        boolean anyGpu = load == GpuLoad.LIGHT && lightOnBusy;
        List<Optional<Refusal>> occupied =
                anyGpu ? gpus.stream().map(gpu -> Optional.<Refusal>empty()).toList() : free.occupied(gpus);
        List<Answer> answers = new ArrayList<>();
        for (int i = 0; i < gpus.size(); i++) {
            String uuid = gpus.get(i).identity().selector();
            Optional<Refusal> refusal = occupied.get(i).or(() -> crashed.refusal(check, uuid));
            answers.add(refusal.<Answer>map(why -> why).orElseGet(() -> grant(check, uuid)));
        }
        List<Held> held = held().stream().filter(grant -> !grant.hanging).toList();
        if (load == GpuLoad.INVASIVE) {
            free.watch(held);
        }
        gpus.stream()
                .map(gpu -> gpu.identity().selector())
                .filter(uuid -> held.stream().noneMatch(grant -> grant.uuid.equals(uuid)))
                .forEach(free::unwatch);
        return answers;
    }

    /** Returns the check as it runs in this daemon: in its process, or in a child. */
    public HealthCheck isolated(HealthCheck check, ChildCheck child) {
        return new IsolatedCheck(check, isolation, child, crashed);
    }

    @Override
    public void failed(int code) {
        isolation.failed(code);
    }

    private Answer grant(String check, String uuid) {
        lock.lock();
        try {
            Optional<Refusal> refusal = releasedFor(uuid).or(() -> taken(uuid));
            if (refusal.isPresent()) {
                return refusal.get();
            }
            Held grant = new Held(check, uuid);
            grants.add(grant);
            try {
                records.ifPresent(
                        files -> files.begin(check, uuid, Clock.systemUTC().instant()));
            } catch (UncheckedIOException e) {
                grants.remove(grant);
                return new Refusal("no-record", "its start could not be recorded on the disk: " + e.getCause());
            }
            return grant;
        } finally {
            lock.unlock();
        }
    }

    private Optional<Refusal> releasedFor(String uuid) {
        if (stopped) {
            return Optional.of(new Refusal("gpu-released", "the daemon stops"));
        }
        return releases.stream()
                .filter(release -> release.uuid.equals(uuid))
                .findFirst()
                .map(release -> new Refusal("gpu-released", "the GPU was released for " + release.reason));
    }

    private Optional<Refusal> taken(String uuid) {
        return grants.stream()
                .filter(grant -> grant.uuid.equals(uuid))
                .findFirst()
                .map(grant -> new Refusal(
                        "gpu-in-check",
                        "the check " + grant.check
                                + (grant.hanging ? " hangs in the driver with the GPU" : " works on the GPU")));
    }

    /** Ends the grants whose work was left behind in the driver and has returned. */
    private void endReturned() {
        held().stream().filter(Held::hasReturned).forEach(Held::close);
    }

    /** Returns the grants now. */
    private List<Held> held() {
        lock.lock();
        try {
            return grants.stream().filter(grant -> !grant.closing).toList();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Released release(String gpuUuid, String reason, Duration patience) {
        Reserved release = new Reserved(gpuUuid, reason);
        long left = patience.toNanos();
        lock.lock();
        try {
            releases.add(release);
            withdraw(release.uuid);
            while (left > 0 && grants.stream().anyMatch(grant -> grant.uuid.equals(release.uuid))) {
                long turn = Math.min(left, POLL_NANOS);
                left -= turn - ended.awaitNanos(turn);
                endReturned();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
        return release;
    }

    private void withdraw(String uuid) {
        grants.stream()
                .filter(grant -> stopped || grant.uuid.equals(uuid))
                .forEach(grant -> releasedFor(grant.uuid).ifPresent(grant::withdraw));
    }

    /** Ends all work. Waits up to a second; work that hangs in the driver is left behind, and is no crash. */
    @Override
    public void close() {
        lock.lock();
        try {
            stopped = true;
            withdraw("");
            long left = CLOSE.toNanos();
            while (left > 0 && !grants.isEmpty()) {
                left = ended.awaitNanos(left);
            }
            List.copyOf(grants).forEach(Held::close);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
        free.close();
    }

    /** A GPU that a check works on. */
    final class Held implements Grant {

        private final String check;
        private final String uuid;
        private volatile @Nullable Refusal withdrawn;
        private volatile boolean hanging;
        private volatile BooleanSupplier returned = () -> false;
        /** Guarded by the lock. */
        private boolean closing;

        Held(String check, String uuid) {
            this.check = check;
            this.uuid = Identifiers.gpu(uuid);
        }

        String uuid() {
            return uuid;
        }

        @Override
        public Optional<Refusal> withdrawn() {
            return Optional.ofNullable(withdrawn);
        }

        /** The first cause stays. */
        void withdraw(Refusal why) {
            if (withdrawn == null) {
                withdrawn = why;
                LOG.log(Level.INFO, "the check " + check + " gives up GPU " + uuid + ": " + why.text());
            }
        }

        @Override
        public void close() {
            lock.lock();
            try {
                if (closing) {
                    return;
                }
                closing = true;
            } finally {
                lock.unlock();
            }
            free.unwatch(uuid);
            removeRecord();
            // Last: a program that waits for the grants may end the process.
            lock.lock();
            try {
                grants.remove(this);
                ended.signalAll();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void closeWhen(BooleanSupplier callReturned) {
            LOG.log(Level.WARNING, "the check " + check + " left a call behind in the driver, which holds GPU " + uuid);
            returned = callReturned;
            hanging = true;
            // A holder that arrives cannot end a call that hangs.
            free.unwatch(uuid);
        }

        private boolean hasReturned() {
            return hanging && returned.getAsBoolean();
        }

        private void removeRecord() {
            try {
                records.ifPresent(files -> files.end(check, uuid));
            } catch (UncheckedIOException e) {
                LOG.log(
                        Level.WARNING,
                        "the record of the check " + check + " on GPU " + uuid
                                + " could not be removed, and the next start will report it: " + e.getCause());
            }
        }
    }

    /** A GPU that is kept free of checks. */
    private final class Reserved implements Released {

        private final String uuid;
        private final String reason;

        Reserved(String uuid, String reason) {
            this.uuid = Identifiers.gpu(uuid);
            this.reason = reason;
        }

        @Override
        public boolean isFree() {
            endReturned();
            lock.lock();
            try {
                return grants.stream().noneMatch(grant -> grant.uuid.equals(uuid));
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            lock.lock();
            try {
                releases.remove(this);
            } finally {
                lock.unlock();
            }
        }
    }
}
