package dev.gpuwarden.checks.history;

import dev.gpuwarden.cli.file.AtomicFile;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Notes of checks that hold until the node boots, in a file that this process alone writes. A file of another boot, or one that is
 * wrong, counts as none. One that cannot be written is logged once, and the notes last until the process ends. Thread-safe; {@link
 * #keep} blocks on the disk.
 */
public final class BootNotes {

    private static final System.Logger LOG = System.getLogger(BootNotes.class.getName());

    /** 64 GPUs, 64 ports and some for each of them; a line has at most some hundred characters. */
    public static final int MOST_NOTES = 4096;

    private static final int MOST_BYTES = 1 << 20;
    private static final int MOST_KEY = 200;

    private final Optional<Path> file;
    private final String bootId;
    private final Map<String, Map<String, Long>> byCheck = new ConcurrentHashMap<>();
    private List<String> kept;
    private boolean failed;

    /** @param file empty for notes in memory alone */
    public BootNotes(Optional<Path> file, String bootId) {
        this.file = file;
        this.bootId = bootId;
        this.kept = file.map(this::read).orElse(List.of());
    }

    /** Returns the notes of a check, which it may change. */
    public Map<String, Long> of(String check) {
        return byCheck.computeIfAbsent(check, any -> new ConcurrentHashMap<>());
    }

    /** Returns whether the notes survive a restart of this process. */
    public boolean lasting() {
        return file.isPresent();
    }

    private List<String> read(Path path) {
        try (InputStream in = Files.newInputStream(path)) {
            List<String> lines = new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            if (!lines.isEmpty() && lines.get(0).equals(bootId)) {
                lines.subList(1, lines.size()).forEach(this::parse);
                return lines;
            }
        } catch (NoSuchFileException e) {
            // The first start.
        } catch (IOException e) {
            LOG.log(Level.WARNING, "notes of this boot in " + path + " cannot be read, and begin again: " + e);
        }
        return List.of();
    }

    private void parse(String line) {
        String[] fields = line.split("\t", -1);
        if (fields.length == 3 && fields[2].matches("-?\\d{1,18}")) {
            of(fields[0]).put(fields[1], Long.valueOf(fields[2]));
        }
    }

    /** Writes the notes if they changed since the last call. */
    public synchronized void keep() {
        if (file.isPresent()) {
            List<String> now = lines();
            if (!now.equals(kept) && write(file.get(), now)) {
                kept = now;
            }
        }
    }

    private List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(bootId);
        new TreeMap<>(byCheck)
                .forEach((check, notes) -> new TreeMap<>(notes).forEach((key, value) -> {
                    boolean plain = key.length() <= MOST_KEY && key.chars().noneMatch(Character::isISOControl);
                    if (plain && lines.size() <= MOST_NOTES) {
                        lines.add(check + "\t" + key + "\t" + value);
                    }
                }));
        return lines;
    }

    private boolean write(Path target, List<String> lines) {
        try {
            AtomicFile.replace(target, String.join("\n", lines) + "\n");
            failed = false;
            return true;
        } catch (IOException e) {
            if (!failed) {
                LOG.log(Level.WARNING, "notes of this boot cannot be written to " + target + ": " + e);
            }
            failed = true;
            return false;
        }
    }
}
