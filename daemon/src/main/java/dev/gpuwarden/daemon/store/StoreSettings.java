package dev.gpuwarden.daemon.store;

import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.ByteSizes;
import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The options of the event store: file, retention, size. */
public final class StoreSettings {

    /** SQLite's name for a database without a file. */
    public static final Path MEMORY = Path.of(":memory:");

    private static final String USUAL = "/var/lib/gpuwarden/events.db";

    @Option(
            names = "--store.path",
            defaultValue = USUAL,
            paramLabel = "FILE",
            description =
                    "File of the event store, ending in .db; :memory: keeps events until the daemon ends. A file that is"
                            + " named and cannot be written is an error (default: ${DEFAULT-VALUE}).")
    Path path = Path.of(USUAL);

    @Bounds(from = "1m")
    @Option(
            names = "--store.retention",
            defaultValue = "30d",
            paramLabel = "DURATION",
            description = "Age at which events are deleted; causes of current faults stay (default: ${DEFAULT-VALUE}).")
    Duration retention = Duration.ofDays(30);

    @Bounds(from = "1MiB")
    @Option(
            names = "--store.max-size",
            defaultValue = "64MiB",
            paramLabel = "SIZE",
            converter = ByteSizes.class,
            description = "Size above which the oldest events are deleted (default: ${DEFAULT-VALUE}).")
    long maxSizeBytes = 64 << 20;

    @Option(
            names = "--store.repeat-window",
            defaultValue = "1h",
            paramLabel = "DURATION",
            description = "A fault that is reported again within this time is counted; later it is stored as"
                    + " another event (default: ${DEFAULT-VALUE}).")
    Duration repeatWindow = Duration.ofHours(1);

    /** The interval between two scans for faults that found no room. Each scan may read the whole history. */
    Duration roomInterval = Duration.ofSeconds(5);

    /** Returns the file for the earlier rates of GPUs, beside the event store; empty if events are in memory alone. */
    public Optional<Path> ratesFile() {
        return beside("-rates.tsv");
    }

    /** Returns the file for the watchdog's decisions, beside the event store; empty if events are in memory alone. */
    public Optional<Path> decisionsFile() {
        return beside("-vram.jsonl");
    }

    /** Returns the file of the repairs of this server; empty where events are in memory alone. */
    public Optional<Path> repairsFile() {
        return beside("-repairs.jsonl");
    }

    /** Returns the file for notes of checks about this boot; empty where events are in memory alone. */
    public Optional<Path> bootFile() {
        return beside("-boot.tsv");
    }

    private Optional<Path> beside(String ending) {
        return path.equals(MEMORY)
                ? Optional.empty()
                : Optional.of(path.resolveSibling(path.getFileName().toString().replaceFirst("\\.db$", "") + ending));
    }

    /** @throws UserError if a value is out of range */
    public void validate() {
        // A file that is no store is renamed as a corrupt one: a mistyped name must not cost another file.
        if (!path.equals(MEMORY) && !path.toString().endsWith(".db")) {
            throw new UserError("--store.path must end in .db, but was " + path);
        }
        if (path.toString().indexOf('?') >= 0) {
            throw new UserError("--store.path must not contain '?', but was " + path);
        }
    }

    /** Returns true if an operator chose the file. */
    boolean named() {
        return !path.equals(Path.of(USUAL));
    }

    public Path path() {
        return path;
    }

    /** For tests and embedding. */
    public static StoreSettings at(Path path) {
        StoreSettings settings = new StoreSettings();
        settings.path = path;
        return settings;
    }
}
