package dev.gpuwarden.checks;

import dev.gpuwarden.checks.history.BootNotes;
import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Opening.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The present boot of the node: what was seen working in it, and whether node or driver are so young that what was not seen working
 * may come. Ages are in seconds since the boot. Thread-safe.
 */
public final class NodeBoot {

    /** Default of {@code --check.young}: links, ports, drivers in containers and DKMS builds take minutes. */
    public static final Duration YOUNG = Duration.ofMinutes(10);

    private static final Path NOWHERE = Path.of("/nonexistent");

    private static final Set<Reason> NOT_LOADED =
            EnumSet.of(Reason.LIBRARY_MISSING, Reason.DRIVER_NOT_LOADED, Reason.VERSION_MISMATCH);

    private static final String NODE = "node";
    private static final String FIRST_SEEN = "first-seen-second";
    private static final String LOADED = "driver-loaded-second";
    private static final String LOAD = "driver-load";
    /** The check whose links train again with each load of the driver. */
    private static final String LINKS = "gpu-nvlink";

    private final Duration young;
    private final NodePaths paths;
    private final BootNotes notes;
    private final LongSupplier nanoTime;
    private final OptionalLong ageAtStart;
    private final long start;
    private final Optional<Told> told;
    private boolean running;
    private boolean missed;

    /** The answer of the daemon, for its child process. */
    private record Told(Optional<String> young) {}

    NodeBoot(Duration young, NodePaths paths, BootNotes notes, LongSupplier nanoTime) {
        this(young, paths, notes, nanoTime, Optional.empty());
    }

    private NodeBoot(Duration young, NodePaths paths, BootNotes notes, LongSupplier nanoTime, Optional<Told> told) {
        this.told = told;
        this.young = young;
        this.paths = paths;
        this.notes = notes;
        this.nanoTime = nanoTime;
        this.start = nanoTime.getAsLong();
        this.ageAtStart = uptime(paths.procfs());
        if (notes.lasting()) {
            age().ifPresent(now -> notes.of(NODE).putIfAbsent(FIRST_SEEN, now));
        }
    }

    /**
     * Returns the boot for a daemon.
     *
     * @param file of its notes; empty for notes in memory alone
     */
    public static NodeBoot of(Duration young, NodePaths paths, Optional<Path> file) {
        return new NodeBoot(young, paths, new BootNotes(file, NodeFacts.bootId(paths.procfs())), System::nanoTime);
    }

    /** Returns the boot for a single run, which keeps no notes. */
    public static NodeBoot once(Duration young, NodePaths paths) {
        return of(young, paths, Optional.empty());
    }

    /**
     * Returns the boot for a run in a child process.
     *
     * @param young why parts may not be ready yet, as the daemon has determined it
     */
    public static NodeBoot ofDaemon(Optional<String> young) {
        BootNotes none = new BootNotes(Optional.empty(), "");
        return new NodeBoot(YOUNG, nowhere(), none, System::nanoTime, Optional.of(new Told(young)));
    }

    private static NodePaths nowhere() {
        return NodePaths.of(NOWHERE, NOWHERE, NOWHERE);
    }

    /** Returns a boot of unknown age, with notes in memory. */
    static NodeBoot unknown() {
        return once(YOUNG, nowhere());
    }

    /** Returns the notes of a check, see {@code CheckContext.bootNotes}. */
    Map<String, Long> notes(String check) {
        return notes.of(check);
    }

    /** Writes notes that changed. Blocks on the disk. */
    void keep() {
        notes.keep();
    }

    /** Finds loads of the driver, by its absence before and by the module's folder, which each load creates. */
    synchronized void observe(NodeSnapshot node) {
        if (told.isPresent()) {
            return;
        }
        if (node.driver() instanceof DriverState.Unavailable none && NOT_LOADED.contains(none.reason())) {
            missed = true;
            running = false;
        } else if (node.driver() instanceof DriverState.Running && !running) {
            running = true;
            Map<String, Long> own = notes.of(NODE);
            long load = module(paths.sysfs());
            Long before = load == 0 ? null : own.put(LOAD, load);
            if (missed || before != null && before != load) {
                age().ifPresent(now -> own.put(LOADED, now));
                notes.of(LINKS).clear();
            }
            missed = false;
        }
    }

    /** See {@code CheckContext.young}. */
    public Optional<String> young() {
        if (told.isPresent()) {
            return told.get().young();
        }
        OptionalLong age = age();
        if (age.isEmpty()) {
            return Optional.empty();
        }
        long now = age.getAsLong();
        String recently = " less than " + young.toMinutes() + " minutes ago";
        if (isYoung(now)) {
            return Optional.of("the node started" + recently);
        }
        if (isYoung(now - since(LOADED))) {
            return Optional.of("the driver was loaded" + recently);
        }
        return isYoung(now - since(FIRST_SEEN))
                ? Optional.of("the daemon saw this boot for the first time" + recently)
                : Optional.empty();
    }

    private boolean isYoung(long seconds) {
        return seconds < young.toSeconds();
    }

    private long since(String note) {
        return notes.of(NODE).getOrDefault(note, Long.MIN_VALUE / 2);
    }

    /** Returns the seconds since the boot; empty if they are unknown. A file of a simulated node does not change by itself. */
    private OptionalLong age() {
        OptionalLong read = uptime(paths.procfs());
        if (read.isEmpty() || ageAtStart.isEmpty()) {
            return read;
        }
        long passed = Duration.ofNanos(nanoTime.getAsLong() - start).toSeconds();
        return OptionalLong.of(Math.max(read.getAsLong(), ageAtStart.getAsLong() + passed));
    }

    private static OptionalLong uptime(Path procfs) {
        try {
            return OptionalLong.of((long) Double.parseDouble(
                    Files.readString(procfs.resolve("uptime")).trim().split(" ", 2)[0]));
        } catch (IOException | NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    /** Returns the inode of the folder of the driver's module, which the kernel numbers again; 0 if there is none. */
    private static long module(Path sysfs) {
        try {
            return Files.getAttribute(sysfs.resolve("module/nvidia"), "unix:ino") instanceof Long inode ? inode : 0;
        } catch (IOException | UnsupportedOperationException e) {
            return 0;
        }
    }
}
