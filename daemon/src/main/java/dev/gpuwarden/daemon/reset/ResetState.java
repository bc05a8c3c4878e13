package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.checks.node.NodeFacts;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The setting of the folder that all resets of a node share. */
public final class ResetState {

    private static final Path USUAL = Path.of("/var/lib/gpuwarden");

    @Option(
            names = "--reset.state",
            paramLabel = "FOLDER",
            description = "Folder of this node with the lock of resets, and with the GPUs whose persistence mode is off"
                    + " for one (default: /var/lib/gpuwarden, below /host where the host is mounted there).")
    @Nullable Path folder;

    /** Returns the folder, which may be missing. */
    public Path folder() {
        if (folder != null) {
            return folder;
        }
        return Files.isDirectory(DriverRoot.HOST)
                ? DriverRoot.HOST.resolve(Path.of("/").relativize(USUAL))
                : USUAL;
    }

    /** Returns the record for the present boot. */
    public PersistenceRecord record(Path procfs) {
        return new PersistenceRecord(folder(), NodeFacts.bootId(procfs));
    }
}
