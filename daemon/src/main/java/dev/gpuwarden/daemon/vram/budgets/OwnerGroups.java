package dev.gpuwarden.daemon.vram.budgets;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.CgroupPath;
import dev.gpuwarden.core.process.Owner;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The control groups of the owners of processes: while an owner lives, its group exists. Each question reads a few small
 * files. Thread-safe.
 */
final class OwnerGroups {

    private static final int CGROUP_BYTES = 64 * 1024;

    /** The folders in which a tree can be mounted: cgroup v2 alone, v2 beside v1, and trees of v1 with every process. */
    private static final List<String> MOUNTS = List.of("", "unified", "systemd", "memory", "pids");

    private static final String UNITS = "system.slice";

    private final Path procfs;
    private final Path mounts;

    /**
     * @param procfs the node's /proc
     * @param sysfs the node's /sys
     */
    OwnerGroups(Path procfs, Path sysfs) {
        this.procfs = procfs;
        this.mounts = sysfs.resolve("fs/cgroup");
    }

    /** Returns the folder of the owner's group, from one of its processes; empty where it is not visible from here. */
    Optional<Path> folder(int pid, Owner owner) {
        Predicate<String> names = name(owner);
        String path;
        try (InputStream in = Files.newInputStream(procfs.resolve(pid + "/cgroup"))) {
            path = CgroupPath.parse(new String(in.readNBytes(CGROUP_BYTES), StandardCharsets.UTF_8))
                    .path();
        } catch (IOException e) {
            return Optional.empty();
        }
        Path whole = Path.of(path.isEmpty() ? "/" : path).normalize();
        for (int i = whole.getNameCount(); i > 0; i--) {
            if (names.test(whole.getName(i - 1).toString())) {
                Path relative = whole.subpath(0, i);
                return MOUNTS.stream()
                        .map(mount -> mounts.resolve(mount).resolve(relative))
                        .filter(Files::isDirectory)
                        .findFirst();
            }
        }
        return Optional.empty();
    }

    private static Predicate<String> name(Owner owner) {
        if (owner instanceof Owner.Container container) {
            return name -> name.contains(container.containerId());
        } else if (owner instanceof Owner.SlurmJob job) {
            return ("job_" + job.jobId())::equals;
        } else if (owner instanceof Owner.Unit unit) {
            // A user's own unit has its manager's name in front.
            return unit.name().substring(unit.name().lastIndexOf('/') + 1)::equals;
        }
        return name -> false;
    }

    /** Returns whether a unit of the system runs, by the group that systemd gives it unless its file names another slice. */
    Reading<Boolean> runs(String unit) {
        if (unit.contains("/") || unit.startsWith(".")) {
            return Reading.of(false);
        }
        Optional<Reading<Boolean>> unknown = Optional.empty();
        for (String mount : MOUNTS) {
            Reading<Boolean> exists =
                    exists(mounts.resolve(mount).resolve(UNITS).resolve(unit));
            if (exists.asOptional().orElse(false)) {
                return exists;
            }
            unknown = exists instanceof Reading.Present<Boolean> ? unknown : Optional.of(exists);
        }
        return unknown.orElse(Reading.of(false));
    }

    /** Returns whether a group exists; absent if its folder cannot be read. */
    Reading<Boolean> exists(Path folder) {
        try {
            return Reading.of(
                    Files.readAttributes(folder, BasicFileAttributes.class).isDirectory());
        } catch (NoSuchFileException e) {
            // Without its tree, nothing found is not nothing there.
            return isTree() ? Reading.of(false) : Reading.absent(Absence.NO_DATA, 0, mounts + " has no groups");
        } catch (IOException e) {
            return Reading.absent(
                    e instanceof AccessDeniedException ? Absence.NO_PERMISSION : Absence.FAILED,
                    0,
                    String.valueOf(e.getMessage()));
        }
    }

    private boolean isTree() {
        return MOUNTS.stream()
                        .anyMatch(mount -> Files.exists(mounts.resolve(mount).resolve("cgroup.procs")))
                || MOUNTS.stream()
                        .anyMatch(
                                mount -> Files.isDirectory(mounts.resolve(mount).resolve(UNITS)));
    }
}
