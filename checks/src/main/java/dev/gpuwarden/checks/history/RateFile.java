package dev.gpuwarden.checks.history;

import dev.gpuwarden.cli.file.AtomicFile;
import dev.gpuwarden.core.check.RateHistory;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The earlier rates of GPUs in a file, which this process alone writes. A file that is wrong is set aside, and the history begins again; one
 * that cannot be written is logged once, and the history lasts until the process ends. Thread-safe; {@link #keep} blocks on the disk.
 */
public final class RateFile implements RateHistory {

    private static final System.Logger LOG = System.getLogger(RateFile.class.getName());
    private static final int MOST_BYTES = 1 << 20;

    private final Optional<Path> file;
    private final RateTable table;
    private boolean failed;

    private RateFile(Optional<Path> file, RateTable table) {
        this.file = file;
        this.table = table;
    }

    /** @param file empty for a history in memory alone */
    public static RateFile open(Optional<Path> file) {
        return new RateFile(file, file.map(RateFile::read).orElseGet(RateTable::new));
    }

    private static RateTable read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MOST_BYTES + 1);
            if (bytes.length > MOST_BYTES) {
                throw new IllegalArgumentException("more than " + MOST_BYTES + " bytes");
            }
            return RateTable.parse(
                    new String(bytes, StandardCharsets.UTF_8).lines().toList());
        } catch (NoSuchFileException e) {
            return new RateTable();
        } catch (IOException | IllegalArgumentException e) {
            LOG.log(
                    Level.WARNING,
                    "the history of rates in " + file + " cannot be read and begins again; " + setAside(file) + ": "
                            + e.getMessage());
            return new RateTable();
        }
    }

    private static String setAside(Path file) {
        Path aside = file.resolveSibling(file.getFileName() + ".corrupt");
        try {
            Files.move(file, aside, StandardCopyOption.REPLACE_EXISTING);
            return "it is " + aside + " now";
        } catch (IOException e) {
            return "it could not be renamed to " + aside + " (" + e + ")";
        }
    }

    @Override
    public synchronized List<Double> earlier(String gpu, String work, String settings) {
        return table.earlier(gpu, work, settings);
    }

    @Override
    public synchronized void keep(String gpu, String work, String settings, double rate) {
        if (table.keep(gpu, work, settings, rate)) {
            file.ifPresent(this::write);
        }
    }

    @Override
    public synchronized List<Series> series(Collection<String> gpus) {
        return table.series(gpus);
    }

    /** Replaces the file as a whole, so that a process that is killed leaves the old one or the new one. */
    private void write(Path target) {
        try {
            AtomicFile.replace(target, String.join("\n", table.lines()) + "\n");
            failed = false;
        } catch (IOException e) {
            if (!failed) {
                LOG.log(Level.WARNING, "the history of rates cannot be written to " + target + ": " + e);
            }
            failed = true;
        }
    }
}
