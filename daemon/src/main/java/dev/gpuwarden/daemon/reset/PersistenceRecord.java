package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.file.AtomicFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs whose persistence mode a reset has turned off, or is about to turn off, in a file of the host. It survives the end of the
 * process in any way. Another boot has modes of its own, so a record of an earlier boot is empty.
 */
public final class PersistenceRecord {

    private static final String FILE = "gpu-reset-persistence.json";
    private static final String SCHEMA = "gpuwarden.persistence/v1";
    private static final int MOST_BYTES = 16 * 1024;
    private static final int MOST_GPUS = 128;

    /** Never an option of nvidia-smi, and never a list. */
    private static final Pattern UUID_TEXT = Pattern.compile("GPU-[0-9A-Za-z-]{1,64}");

    private final Path folder;
    private final Path file;
    private final String bootId;

    public PersistenceRecord(Path folder, String bootId) {
        this.folder = folder;
        this.file = folder.resolve(FILE);
        this.bootId = bootId;
    }

    Path folder() {
        return folder;
    }

    /**
     * Returns the UUIDs of the GPUs whose persistence mode must be turned on.
     *
     * @throws IOException if the file cannot be read, or is not as this class writes it; for users
     */
    public Set<String> read() throws IOException {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return Set.of();
        }
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw wrong("another kind of file");
        }
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            bytes = in.readNBytes(MOST_BYTES + 1);
        } catch (IOException e) {
            throw new IOException(DriverRoot.onHost(file) + " cannot be read: " + FileErrors.why(e), e);
        }
        if (bytes.length > MOST_BYTES) {
            throw wrong("more than " + MOST_BYTES + " bytes");
        }
        Map<String, @Nullable Object> tree;
        try {
            tree = JsonReader.refusingDuplicates(3).readObject(new String(bytes, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw wrong("no JSON object");
        }
        if (!SCHEMA.equals(tree.get("schema")) || !(tree.get("bootId") instanceof String boot)) {
            throw wrong("another schema");
        }
        return boot.equals(bootId) ? uuids(tree.get("gpus")) : Set.of();
    }

    private Set<String> uuids(@Nullable Object gpus) throws IOException {
        if (!(gpus instanceof List<?> list) || list.size() > MOST_GPUS) {
            throw wrong("no list of at most " + MOST_GPUS + " GPUs");
        }
        Set<String> uuids = new TreeSet<>();
        for (Object each : list) {
            if (!(each instanceof String uuid) || !UUID_TEXT.matcher(uuid).matches()) {
                throw wrong("an entry that is no UUID of a GPU");
            }
            uuids.add(uuid);
        }
        return uuids;
    }

    private IOException wrong(String seen) {
        return new IOException(DriverRoot.onHost(file) + ": expected " + SCHEMA + ", seen " + seen
                + "; turn persistence mode on where it must be (nvidia-smi -pm 1), and remove the file");
    }

    /**
     * Replaces the record as a whole.
     *
     * @param uuids none removes the record
     */
    void write(Collection<String> uuids) throws IOException {
        if (uuids.isEmpty()) {
            Files.deleteIfExists(file);
            return;
        }
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("bootId", bootId);
        tree.put("gpus", List.copyOf(new TreeSet<>(uuids)));
        // The lock permits one writer.
        AtomicFile.replace(file, Output.json(tree) + "\n");
    }
}
