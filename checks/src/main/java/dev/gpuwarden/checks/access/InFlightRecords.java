package dev.gpuwarden.checks.access;

import dev.gpuwarden.cli.file.AtomicFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Records on disk of the checks that give work to GPUs now, one file for each check and GPU. A record that a start of the
 * program finds is of a run that ended with the program. Each change is synced. Thread-safe, because no two runs of a
 * check on a GPU overlap.
 */
record InFlightRecords(Path folder) {

    private static final Pattern NAME = Pattern.compile("([a-z0-9-]{1,64})@([A-Za-z0-9-]{1,64})\\.in-flight");

    private static final int MOST_RECORDS = 1024;
    private static final int MOST_BYTES = 64;

    /**
     * A check on a GPU that was in flight.
     *
     * @param since start of the work; the present time where the file does not have it
     */
    record InFlight(String check, String gpuUuid, Instant since) {}

    /**
     * Writes and syncs a record.
     *
     * @throws UncheckedIOException if the disk does not take it; the work must not start then
     */
    void begin(String check, String gpuUuid, Instant now) {
        try {
            Files.createDirectories(folder);
            Path file = file(check, gpuUuid);
            AtomicFile.replace(file, now + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes a record. A record that cannot be removed stays, and the next start reports it. */
    void end(String check, String gpuUuid) {
        try {
            Path file = file(check, gpuUuid);
            if (Files.deleteIfExists(file)) {
                AtomicFile.syncFolder(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the records that are there. Files of other names are left alone; at most 1,024 are read. */
    List<InFlight> all(Instant now) {
        List<InFlight> found = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return found;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.in-flight")) {
            for (Path file : files) {
                Matcher name = NAME.matcher(file.getFileName().toString());
                if (name.matches() && found.size() < MOST_RECORDS) {
                    found.add(new InFlight(
                            name.group(1), name.group(2), since(file).orElse(now)));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (DirectoryIteratorException e) {
            throw new UncheckedIOException(e.getCause());
        }
        return found;
    }

    private static Optional<Instant> since(Path file) {
        try {
            return Files.size(file) > MOST_BYTES
                    ? Optional.empty()
                    : Optional.of(Instant.parse(Files.readString(file).trim()));
        } catch (IOException | DateTimeParseException e) {
            // A power failure can leave an empty file.
            return Optional.empty();
        }
    }

    private Path file(String check, String gpuUuid) throws IOException {
        String name = check + "@" + gpuUuid + ".in-flight";
        if (!NAME.matcher(name).matches()) {
            throw new IOException("not a name of a check and a GPU: " + name);
        }
        return folder.resolve(name);
    }
}
