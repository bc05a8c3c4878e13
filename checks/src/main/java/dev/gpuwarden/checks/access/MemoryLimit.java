package dev.gpuwarden.checks.access;

import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The memory that the cgroup of this process may still take; the kernel gives back what the cache of files takes. Reads the
 * limits of cgroup version 2 on each call.
 */
public record MemoryLimit(Path ownCgroup, Path tree) implements Supplier<Reading<Long>> {

    private static final Set<String> CACHE = Set.of("inactive_file", "active_file");

    public MemoryLimit() {
        this(Path.of("/proc/self/cgroup"), Path.of("/sys/fs/cgroup"));
    }

    /** Returns the bytes left below the tightest limit of the cgroup and its parents; absent where there is none. */
    @Override
    public Reading<Long> get() {
        OptionalLong least = OptionalLong.empty();
        Path folder = folder();
        while (folder != null && folder.startsWith(tree)) {
            OptionalLong limit = number(folder.resolve("memory.max"));
            OptionalLong used = number(folder.resolve("memory.current"));
            if (limit.isPresent() && used.isPresent()) {
                long left = limit.getAsLong() - used.getAsLong() + cache(folder);
                least = OptionalLong.of(Math.min(left, least.orElse(Long.MAX_VALUE)));
            }
            folder = folder.getParent();
        }
        return least.isPresent()
                ? Reading.of(least.getAsLong())
                : Reading.absent(Absence.NO_DATA, 0, "no memory limit of a cgroup of version 2");
    }

    private Path folder() {
        try {
            return Files.readAllLines(ownCgroup).stream()
                    .filter(line -> line.startsWith("0::/"))
                    .findFirst()
                    .map(line -> tree.resolve(line.substring("0::/".length())).normalize())
                    .orElse(tree);
        } catch (IOException e) {
            return tree;
        }
    }

    /** Returns why no check may work on GPUs; empty where the limit leaves what CUDA needs, and where there is none. */
    public Optional<GpuAccess.Refusal> refusal() {
        return Isolation.tooLittle(get()).map(why -> new GpuAccess.Refusal("memory-limit", why));
    }

    /** Returns the bytes of pages of files, without those of memory file systems; 0 where the kernel reports none. */
    private static long cache(Path folder) {
        try {
            return Files.readAllLines(folder.resolve("memory.stat")).stream()
                    .map(line -> line.split(" ", 2))
                    .filter(pair -> pair.length == 2 && CACHE.contains(pair[0]))
                    .mapToLong(pair -> Long.parseLong(pair[1].trim()))
                    .sum();
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }

    private static OptionalLong number(Path file) {
        try {
            return OptionalLong.of(Long.parseLong(Files.readString(file).trim()));
        } catch (IOException | NumberFormatException e) {
            // "max" is no limit.
            return OptionalLong.empty();
        }
    }
}
