package dev.gpuwarden.checks.access;

import dev.gpuwarden.checks.telemetry.ProcessWatch;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs that no pod and no other process holds. While checks work on some, a thread follows their holders: processes
 * with each fast turn of the sampler, pods every second. It ends with the last grant.
 */
final class FreeGpus implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(FreeGpus.class.getName());

    /** Longer than a fast turn and its deadline by their defaults. */
    private static final Duration LISTING = Duration.ofSeconds(4);

    private static final long POLL_MILLIS = 50;
    private static final long FOLLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long PODS_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The time in which the driver may still list a process that has ended. */
    private static final Duration ENDED = Duration.ofSeconds(1);

    private final Supplier<NodeSnapshot> nodes;
    private final Supplier<Reading<GpuHolders>> pods;
    private final IntPredicate own;
    private final IntFunction<String> names;
    private final ProcessWatch watch;

    /** Own processes since the last grant: the driver lists one that has ended for a moment, without its parent. */
    private final Set<Integer> seenOwn = ConcurrentHashMap.newKeySet();

    /** Listed processes that this program cannot see, each with the time of its first listing. Read by the follower alone. */
    private final Map<Integer, Long> unseen = new HashMap<>();

    private final Map<String, GpuReservations.Held> followed = new HashMap<>();
    private @Nullable LoopThread follower;

    /** The pods that hold GPUs, and the time of that listing. Null without a follower. Used by the follower alone. */
    private @Nullable Reading<GpuHolders> holders;

    private long listedAt;

    /**
     * @param pods the pods that hold GPUs; may block for seconds
     * @param own whether a process is this program or a child of it
     * @param names returns the name of a process for operators
     * @param watch the GPUs whose processes the sampler lists often
     */
    FreeGpus(
            Supplier<NodeSnapshot> nodes,
            Supplier<Reading<GpuHolders>> pods,
            IntPredicate own,
            IntFunction<String> names,
            ProcessWatch watch) {
        this.nodes = nodes;
        this.pods = pods;
        this.own = own;
        this.names = names;
        this.watch = watch;
    }

    /**
     * Returns why each of these GPUs is not free; empty for one that is. Waits until their processes were listed after this
     * request. Watches the GPUs from then on.
     */
    List<Optional<Refusal>> occupied(List<GpuSnapshot> gpus) {
        List<String> uuids = gpus.stream().map(gpu -> gpu.identity().selector()).toList();
        uuids.forEach(watch::begin);
        Map<String, GpuSnapshot> listed = listed(uuids);
        Reading<GpuHolders> holders = pods.get();
        List<Optional<Refusal>> answers = new ArrayList<>();
        for (String uuid : uuids) {
            GpuSnapshot gpu = listed.get(uuid);
            Optional<Refusal> refusal = gpu == null
                    ? Optional.of(new Refusal(
                            Occupancy.UNKNOWN,
                            "it is not known whether the GPU is free: its processes were not listed within "
                                    + LISTING.toSeconds() + " s"))
                    : Occupancy.of(gpu, holders, this::isOwnOrWas, names);
            answers.add(refusal);
        }
        return answers;
    }

    /** Returns those of the GPUs whose processes were listed after this call began. */
    private Map<String, GpuSnapshot> listed(List<String> uuids) {
        long began = System.nanoTime();
        Map<String, GpuSnapshot> listed = new HashMap<>();
        while (true) {
            long waited = System.nanoTime() - began;
            for (GpuSnapshot gpu : nodes.get().gpus()) {
                boolean since = gpu.processesAgeNanos()
                        .asOptional()
                        .filter(age -> age <= waited)
                        .isPresent();
                if (since && uuids.contains(gpu.identity().selector())) {
                    listed.put(gpu.identity().selector(), gpu);
                }
            }
            if (listed.size() == uuids.size() || waited > LISTING.toNanos() || !pause(POLL_MILLIS)) {
                return listed;
            }
        }
    }

    /** Follows the holders of these grants' GPUs, and withdraws a grant whose GPU another program takes. */
    synchronized void watch(List<GpuReservations.Held> grants) {
        grants.forEach(grant -> followed.put(grant.uuid(), grant));
        if (follower == null && !followed.isEmpty()) {
            follower = new LoopThread("gpuwarden-gpu-holders", Threads.SMALL_STACK_BYTES, this::follow).start();
        }
    }

    /** Ends following a GPU. */
    synchronized void unwatch(String uuid) {
        followed.remove(uuid);
        watch.end(uuid);
    }

    private long follow() {
        List<GpuReservations.Held> grants = followed();
        if (grants.isEmpty()) {
            return LoopThread.ENDED;
        }
        try {
            Reading<GpuHolders> listed = holders;
            if (listed == null || System.nanoTime() - listedAt >= PODS_NANOS) {
                listed = pods.get();
                holders = listed;
                listedAt = System.nanoTime();
            }
            withdraw(grants, listed);
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "the holders of GPUs could not be followed", e);
            grants.forEach(grant -> grant.withdraw(
                    new Refusal(Occupancy.UNKNOWN, "the holders of the GPU could not be followed: " + e)));
        }
        return FOLLOW_NANOS;
    }

    /** Withdraws the grants of GPUs that are not free any more. */
    private void withdraw(List<GpuReservations.Held> grants, Reading<GpuHolders> listed) {
        Map<String, GpuSnapshot> gpus = new HashMap<>();
        nodes.get().gpus().forEach(gpu -> gpus.put(gpu.identity().selector(), gpu));
        for (GpuReservations.Held grant : grants) {
            GpuSnapshot gpu = gpus.get(grant.uuid());
            Optional<Refusal> why = gpu == null
                    ? Optional.of(new Refusal(Occupancy.UNKNOWN, "the GPU is no longer listed"))
                    : Occupancy.of(gpu, listed, pid -> isOwnOrWas(pid) || mayHaveEnded(pid), names);
            why.ifPresent(grant::withdraw);
        }
    }

    /** Returns the grants that are followed; without any, the thread that asks ends. */
    private synchronized List<GpuReservations.Held> followed() {
        if (followed.isEmpty()) {
            follower = null;
            holders = null;
            seenOwn.clear();
            unseen.clear();
        }
        return List.copyOf(followed.values());
    }

    /** Returns false if the thread was interrupted, so that it must end. */
    private boolean pause(long millis) {
        LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(millis));
        return !Thread.currentThread().isInterrupted();
    }

    private boolean isOwnOrWas(int pid) {
        if (own.test(pid)) {
            seenOwn.add(pid);
        }
        return seenOwn.contains(pid);
    }

    /**
     * Returns whether a listed process cannot be seen and was first listed less than a second ago. A child that crashes before
     * its first turn here would otherwise appear as another program, and its crash would be lost.
     */
    private boolean mayHaveEnded(int pid) {
        if (ProcessHandle.of(pid).isPresent()) {
            unseen.remove(pid);
            return false;
        }
        long now = System.nanoTime();
        Long first = unseen.putIfAbsent(pid, now);
        return first == null || now - first < ENDED.toNanos();
    }

    /** Returns whether a process is this one or was started by it, at any distance up to eight. */
    static boolean isOwn(int pid) {
        long own = ProcessHandle.current().pid();
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        for (int i = 0; i < 8 && process.isPresent(); i++) {
            if (process.get().pid() == own) {
                return true;
            }
            process = process.get().parent();
        }
        return false;
    }

    @Override
    public synchronized void close() {
        followed.clear();
        if (follower != null) {
            follower.interrupt(Duration.ZERO);
        }
    }
}
