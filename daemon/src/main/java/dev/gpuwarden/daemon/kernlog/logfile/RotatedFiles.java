package dev.gpuwarden.daemon.kernlog.logfile;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** The files of a log that was rotated, by renaming or by copying and truncating. */
public final class RotatedFiles {

    /** A part to read: a file from this offset on, in bytes. */
    public record Part(Path file, long offset) {}

    /**
     * The unread parts of a log.
     *
     * @param rest the rest of the file with the position; empty where that file is gone
     * @param later the files that were begun later, in the order of writing; the last one is the log itself
     */
    public record Unread(Optional<Part> rest, List<Part> later) {

        /** Returns all parts, in the order of writing. */
        public List<Part> parts() {
            List<Part> parts = new ArrayList<>(later);
            rest.ifPresent(part -> parts.add(0, part));
            return parts;
        }
    }

    /** A rotated file as logrotate leaves it: the log's name with a suffix. */
    private record Rotated(Path file, FileTime modified) {}

    /** ".1", "-20261121", ".2026-11-21T02:00:00", ".old". Compressed files are old, and not read. */
    private static final Pattern SUFFIX = Pattern.compile("[.\\-_](?:\\d[\\dT:._-]*|old|bak|prev|last)|~");

    /** A boot that began before these files is older than the kept log. */
    private static final int MOST_ROTATED = 3;

    private static final int ATTEMPTS = 5;

    private RotatedFiles() {}

    /** Returns the parts of the log behind a position. */
    public static Unread behind(Path log, FilePosition position) {
        if (has(log, position)) {
            return new Unread(Optional.of(new Part(log, position.offset())), List.of());
        }
        List<Rotated> rotated = rotated(log);
        Optional<Rotated> found = rotated.stream()
                .filter(old -> has(old.file, position))
                .findFirst()
                .or(() -> rotated.stream()
                        .filter(old -> position.headBytes() > 0 && position.fits(old.file))
                        .findFirst());
        List<Part> later = new ArrayList<>();
        if (found.isPresent()) {
            rotated.stream()
                    .filter(old -> old.modified.compareTo(found.get().modified) > 0)
                    .filter(old -> !copies(old.file, log))
                    .forEach(old -> later.add(new Part(old.file, 0)));
        }
        later.add(new Part(log, 0));
        return new Unread(found.map(old -> new Part(old.file, position.offset())), later);
    }

    /** Returns whether the file is a copy of a log that is not truncated yet, so that the log has all its lines too. */
    private static boolean copies(Path rotated, Path log) {
        try (FileChannel one = FileChannel.open(rotated, StandardOpenOption.READ);
                FileChannel other = FileChannel.open(log, StandardOpenOption.READ)) {
            byte[] head = FilePosition.head(one, FilePosition.MOST_HEAD_BYTES);
            return Arrays.equals(head, FilePosition.head(other, head.length));
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean has(Path file, FilePosition position) {
        try {
            return FilePosition.inode(file) == position.inode() && position.fits(file);
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the newest rotated files and the log itself, in the order of writing: this boot may have begun in any of them. */
    public static List<Part> whole(Path log) {
        List<Rotated> rotated = rotated(log);
        List<Part> parts = new ArrayList<>();
        rotated.subList(Math.max(0, rotated.size() - MOST_ROTATED), rotated.size())
                .forEach(old -> parts.add(new Part(old.file, 0)));
        parts.add(new Part(log, 0));
        return parts;
    }

    /** Returns the rotated files, oldest first. */
    private static List<Rotated> rotated(Path log) {
        Path name = log.getFileName();
        Path folder = log.toAbsolutePath().getParent();
        List<Rotated> rotated = new ArrayList<>();
        if (name == null || folder == null) {
            return rotated;
        }
        boolean whole = false;
        for (int attempt = 0; !whole && attempt < ATTEMPTS; attempt++) {
            rotated.clear();
            whole = list(folder, name.toString(), rotated);
        }
        rotated.sort(Comparator.comparing(Rotated::modified));
        return rotated;
    }

    /** @return false where a file disappeared during the listing, perhaps to a name that was listed already */
    private static boolean list(Path folder, String name, List<Rotated> rotated) {
        boolean whole = true;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(
                folder, entry -> entry.getFileName().toString().startsWith(name))) {
            for (Path entry : entries) {
                String text = entry.getFileName().toString();
                if (!SUFFIX.matcher(text.substring(Math.min(name.length(), text.length())))
                        .matches()) {
                    continue;
                }
                try {
                    BasicFileAttributes file = Files.readAttributes(entry, BasicFileAttributes.class);
                    // An empty file must be skipped, or it would stay the next one.
                    if (file.isRegularFile() && file.size() > 0 && Files.isReadable(entry)) {
                        rotated.add(new Rotated(entry, file.lastModifiedTime()));
                    }
                } catch (IOException e) {
                    whole = false;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // A folder that cannot be listed has no rotated files.
            return true;
        }
        return whole;
    }
}
