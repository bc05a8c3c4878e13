package dev.gpuwarden.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The temporary folder of unit tests: in memory where there is room, since they write many small files. Other tests start programs,
 * which find each other in the system's own temporary folder.
 */
record Scratch(Optional<Path> folder) implements AutoCloseable {

    private static final Path MEMORY = Path.of("/dev/shm");
    /** The unit tests of the daemon keep about 300 MB. */
    private static final long ROOM_BYTES = 2L << 30;

    static Scratch forTier(Tier tier) throws IOException {
        boolean room = tier == Tier.UNIT
                && Files.isWritable(MEMORY)
                && Files.getFileStore(MEMORY).getUsableSpace() >= ROOM_BYTES;
        return new Scratch(room ? Optional.of(Files.createTempDirectory(MEMORY, "gpuwarden-test-")) : Optional.empty());
    }

    @Override
    public void close() throws IOException {
        if (folder.isPresent()) {
            List<Path> all;
            try (Stream<Path> files = Files.walk(folder.get())) {
                all = files.sorted(Comparator.reverseOrder()).toList();
            }
            for (Path path : all) {
                Files.deleteIfExists(path);
            }
        }
    }
}
