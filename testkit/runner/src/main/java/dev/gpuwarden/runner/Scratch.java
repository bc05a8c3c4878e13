package dev.gpuwarden.runner;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The temporary folder of unit tests: in memory where there is room, since they write many small files. Other tests start programs,
 * which find each other in the system's own temporary folder.
 */
record Scratch(Optional<Path> folder) implements AutoCloseable {

    /** Prefix of the folder; the pid of the runner follows. */
    private static final String PREFIX = "gpuwarden-test-";

    private static final Pattern OWNER = Pattern.compile(PREFIX + "(\\d{1,9})-.*");

    private static final AtomicInteger NUMBER = new AtomicInteger();

    private static final Path MEMORY = Path.of("/dev/shm");
    /** The unit tests of the daemon keep about 300 MB. */
    private static final long ROOM_BYTES = 2L << 30;

    static Scratch forTier(Tier tier) throws IOException {
        boolean room = tier == Tier.UNIT
                && Files.isWritable(MEMORY)
                && Files.getFileStore(MEMORY).getUsableSpace() >= ROOM_BYTES;
        if (!room) {
            return new Scratch(Optional.empty());
        }
        removeLeftovers();
        String name = PREFIX + ProcessHandle.current().pid() + "-" + NUMBER.incrementAndGet();
        return new Scratch(Optional.of(Files.createDirectory(MEMORY.resolve(name))));
    }

    /** Deletes the folders of runners that were killed. */
    private static void removeLeftovers() throws IOException {
        List<Path> found;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(MEMORY, PREFIX + "*")) {
            found = StreamSupport.stream(all.spliterator(), false).toList();
        }
        for (Path folder : found) {
            Matcher owner = OWNER.matcher(folder.getFileName().toString());
            if (owner.matches()
                    && ProcessHandle.of(Long.parseLong(owner.group(1))).isEmpty()) {
                delete(folder);
            }
        }
    }

    @Override
    public void close() throws IOException {
        if (folder.isPresent()) {
            delete(folder.get());
        }
    }

    private static void delete(Path folder) throws IOException {
        List<Path> all;
        try (Stream<Path> files = Files.walk(folder)) {
            all = files.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : all) {
            Files.deleteIfExists(path);
        }
    }
}
