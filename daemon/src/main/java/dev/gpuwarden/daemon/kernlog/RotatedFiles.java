package dev.gpuwarden.daemon.kernlog;

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

/** Which files hold what was not read yet, after a log was rotated by renaming or by copying and cutting. */
final class RotatedFiles {

    /** A part to read: the file from this byte on. */
    record Part(Path file, long offset) {}

    /**
     * @param rest of the file that is marked; empty where it is gone
     * @param after what was begun later, in the order of writing, the log itself last
     */
    record Trail(Optional<Part> rest, List<Part> after) {

        List<Part> parts() {
            List<Part> parts = new ArrayList<>(after);
            rest.ifPresent(part -> parts.add(0, part));
            return parts;
        }
    }

    /** A former file of this log, as logrotate leaves it: the same name with something behind. */
    private record Former(Path file, FileTime modified) {}

    /** ".1", "-20261121", ".2026-11-21T02:00:00", ".old". Compressed ones are of long ago, and not read. */
    private static final Pattern FORMER = Pattern.compile("[.\\-_](?:\\d[\\dT:._-]*|old|bak|prev|last)|~");

    /** A node that runs for longer began before what is kept. */
    private static final int MOST_FORMERS = 3;

    private static final int ATTEMPTS = 5;

    private RotatedFiles() {}

    static Trail behind(Path log, FilePosition mark) {
        if (isMarked(log, mark)) {
            return new Trail(Optional.of(new Part(log, mark.offset())), List.of());
        }
        List<Former> formers = formers(log);
        Optional<Former> marked = formers.stream()
                .filter(former -> isMarked(former.file, mark))
                .findFirst()
                .or(() -> formers.stream()
                        .filter(former -> mark.headBytes() > 0 && mark.fits(former.file))
                        .findFirst());
        List<Part> after = new ArrayList<>();
        if (marked.isPresent()) {
            formers.stream()
                    .filter(former -> former.modified.compareTo(marked.get().modified) > 0)
                    .filter(former -> !copies(former.file, log))
                    .forEach(former -> after.add(new Part(former.file, 0)));
        }
        after.add(new Part(log, 0));
        return new Trail(marked.map(former -> new Part(former.file, mark.offset())), after);
    }

    /** Whether this is a copy of a log that has not been cut yet, and so holds nothing that the log does not. */
    private static boolean copies(Path former, Path log) {
        try (FileChannel one = FileChannel.open(former, StandardOpenOption.READ);
                FileChannel other = FileChannel.open(log, StandardOpenOption.READ)) {
            byte[] head = FilePosition.head(one, FilePosition.MOST_HEAD_BYTES);
            return Arrays.equals(head, FilePosition.head(other, head.length));
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isMarked(Path file, FilePosition mark) {
        try {
            return FilePosition.inode(file) == mark.inode() && mark.fits(file);
        } catch (IOException e) {
            return false;
        }
    }

    /** Where this boot may have begun: the newest former files and the log itself, in the order of writing. */
    static List<Part> whole(Path log) {
        List<Former> formers = formers(log);
        List<Part> parts = new ArrayList<>();
        formers.subList(Math.max(0, formers.size() - MOST_FORMERS), formers.size())
                .forEach(former -> parts.add(new Part(former.file, 0)));
        parts.add(new Part(log, 0));
        return parts;
    }

    /** Oldest first. */
    private static List<Former> formers(Path log) {
        Path name = log.getFileName();
        Path folder = log.toAbsolutePath().getParent();
        List<Former> formers = new ArrayList<>();
        if (name == null || folder == null) {
            return formers;
        }
        boolean whole = false;
        for (int attempt = 0; !whole && attempt < ATTEMPTS; attempt++) {
            formers.clear();
            whole = list(folder, name.toString(), formers);
        }
        formers.sort(Comparator.comparing(Former::modified));
        return formers;
    }

    /** @return false where a file went away meanwhile, perhaps to another name that had been passed */
    private static boolean list(Path folder, String name, List<Former> formers) {
        boolean whole = true;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(
                folder, entry -> entry.getFileName().toString().startsWith(name))) {
            for (Path entry : entries) {
                String text = entry.getFileName().toString();
                if (!FORMER.matcher(text.substring(Math.min(name.length(), text.length())))
                        .matches()) {
                    continue;
                }
                try {
                    BasicFileAttributes file = Files.readAttributes(entry, BasicFileAttributes.class);
                    // One that is empty is passed over, or it would be the next one for ever.
                    if (file.isRegularFile() && file.size() > 0 && Files.isReadable(entry)) {
                        formers.add(new Former(entry, file.lastModifiedTime()));
                    }
                } catch (IOException e) {
                    whole = false;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // A folder that cannot be listed shows no former files.
            return true;
        }
        return whole;
    }
}
