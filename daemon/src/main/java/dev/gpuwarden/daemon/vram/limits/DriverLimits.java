package dev.gpuwarden.daemon.vram.limits;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CgroupLimits;
import dev.gpuwarden.core.port.CgroupLimits.Limit;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.daemon.vram.watch.Observations.Observed;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Keeps the driver's limits equal to the tenants' budgets, every five seconds, on a thread of its own that may wait in the
 * driver. In dry run it logs what it would set. When it ends, it removes the limits that it set.
 */
public final class DriverLimits implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(DriverLimits.class.getName());

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(2);
    /** Groups with a limit; a driver has room for fewer than this for each GPU. */
    private static final int MOST_LIMITS = 1024;

    private final Supplier<List<Observed>> gpus;
    private final Supplier<Reading<CgroupLimits>> driver;
    private final CgroupFolders folders;
    private final LimitMode mode;
    private final boolean armed;
    private final Map<Group, Limit> set = new LinkedHashMap<>();
    private final Map<String, String> told = new LinkedHashMap<>();
    private final LoopThread thread =
            new LoopThread("gpuwarden-vram-limits", this::turn).atEnd(() -> remove(List.copyOf(set.keySet())));

    private record Group(String gpuUuid, String folder) {}

    /**
     * Starts it.
     *
     * @param gpus the last observation of each GPU
     * @param driver absent while it is not open
     * @param procfs the node's /proc
     */
    public static DriverLimits start(
            Supplier<List<Observed>> gpus,
            Supplier<Reading<CgroupLimits>> driver,
            Path procfs,
            LimitMode mode,
            boolean armed) {
        DriverLimits limits =
                new DriverLimits(gpus, driver, new CgroupFolders(procfs, Path.of("/proc/self/mountinfo")), mode, armed);
        limits.thread.start();
        return limits;
    }

    DriverLimits(
            Supplier<List<Observed>> gpus,
            Supplier<Reading<CgroupLimits>> driver,
            CgroupFolders folders,
            LimitMode mode,
            boolean armed) {
        this.gpus = gpus;
        this.driver = driver;
        this.folders = folders;
        this.mode = mode;
        this.armed = armed;
    }

    private long turn() {
        try {
            reconcile();
        } catch (RuntimeException e) {
            tell("driver limits", "a defect: " + e);
        }
        return PAUSE_NANOS;
    }

    /** Sets what differs from the budgets, and removes what no budget needs. Limits of a GPU that is not read now stay. */
    void reconcile() {
        Map<Group, Limit> wanted = new LinkedHashMap<>();
        Set<String> read = new HashSet<>();
        for (Observed seen : gpus.get()) {
            Optional<LimitPlan> plan =
                    LimitPlan.of(seen.observation(), mode == LimitMode.cap, process -> folders.of(process.pid()));
            plan.ifPresent(known -> add(known, seen.gpu(), wanted, read));
        }
        remove(set.keySet().stream()
                .filter(group -> !wanted.containsKey(group))
                .filter(group -> read.contains(group.gpuUuid()) || !Files.exists(Path.of(group.folder())))
                .toList());
        wanted.forEach((group, limit) -> {
            if (!limit.equals(set.get(group))) {
                apply(group, limit);
            }
        });
    }

    private void add(LimitPlan plan, GpuIdentity gpu, Map<Group, Limit> wanted, Set<String> read) {
        plan.without().forEach((tenant, why) -> tell(gpu.label() + " " + tenant, "no driver limit: " + why));
        gpu.uuid().asOptional().ifPresent(uuid -> {
            read.add(uuid);
            plan.limits().forEach((folder, limit) -> {
                if (wanted.size() < MOST_LIMITS) {
                    wanted.put(new Group(uuid, folder), limit);
                }
            });
        });
    }

    private void apply(Group group, Limit limit) {
        String subject = group.gpuUuid() + " " + group.folder();
        if (!armed) {
            tell(subject, "would hold it to " + words(limit) + " by the driver (dry run)");
            return;
        }
        Reading<Limit> done = call(group, limit);
        if (done instanceof Reading.Absent<Limit> failed) {
            boolean without = failed.cause() == Absence.NO_SYMBOL || failed.cause() == Absence.NOT_SUPPORTED;
            tell(
                    without ? "the driver" : subject,
                    without
                            ? "it has no limits of memory for control groups (R615 and later have): " + failed.text()
                            : "no driver limit: " + failed.text());
        } else {
            set.put(group, limit);
            tell(subject, "the driver holds it to " + words(limit));
        }
    }

    private Reading<Limit> call(Group group, Limit limit) {
        Reading<CgroupLimits> limits = driver.get();
        return limits instanceof Reading.Present<CgroupLimits> open
                ? open.value().set(group.gpuUuid(), group.folder(), limit)
                : limits.map(none -> limit);
    }

    /** A group that was removed took its limits with it. */
    private void remove(List<Group> groups) {
        for (Group group : groups) {
            Reading<Limit> done =
                    Files.exists(Path.of(group.folder())) ? call(group, Limit.NONE) : Reading.of(Limit.NONE);
            if (done instanceof Reading.Absent<Limit> failed) {
                tell(group.gpuUuid() + " " + group.folder(), "its driver limit stays: " + failed.text());
            } else {
                set.remove(group);
                told.remove(group.gpuUuid() + " " + group.folder());
            }
        }
    }

    /** Logs a line about a subject if the last one about it was another. */
    private void tell(String subject, String line) {
        if (told.size() >= MOST_LIMITS) {
            told.clear();
        }
        if (!line.equals(told.put(subject, line))) {
            LOG.log(Level.INFO, subject + ": " + line);
        }
    }

    private static String words(Limit limit) {
        String kept = "at least " + Mib.text(limit.softBytes());
        return limit.hardBytes().isPresent() ? kept + " and no more" : kept;
    }

    /** Returns after the limits are removed, or after two seconds where the driver does not return. */
    @Override
    public void close() {
        thread.close(LONGEST_CLOSE);
    }
}
