package dev.gpuwarden.daemon.reset;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * A folder of zip files with evidence of failures, for the owner alone. The oldest are removed when there are more than {@value #MOST},
 * or more than {@value #MOST_MIB} MiB.
 */
public final class EvidenceFolder {

    static final int MOST = 8;
    static final long MOST_MIB = 256;

    private static final String END = ".zip";
    private static final Pattern OURS = Pattern.compile("(?:gpu-reset|bundle)-.*\\.zip");
    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final Path folder;
    private final long mostBytes;

    EvidenceFolder(Path folder, long mostBytes) {
        this.folder = folder;
        this.mostBytes = mostBytes;
    }

    public static EvidenceFolder of(Path folder) {
        return new EvidenceFolder(folder, MOST_MIB << 20);
    }

    /** The content of a file in the archive. */
    interface Content {
        InputStream open() throws IOException;
    }

    record Entry(String name, Content content) {}

    /**
     * Writes an archive, and removes the oldest ones.
     *
     * @param start `gpu-reset-` or `bundle-`
     * @param name of the archive after the start; empty for the time
     * @throws IOException if it cannot be written; then no part of it stays
     */
    Path write(String start, Optional<String> name, Instant at, List<Entry> entries) throws IOException {
        prepare();
        Path file = folder.resolve(start + name.orElseGet(() -> STAMP.format(at)) + END);
        // A new file: a link of this name is never followed.
        OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try (out) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            try (ZipOutputStream zip = new ZipOutputStream(out)) {
                for (Entry entry : entries) {
                    add(zip, at, entry);
                }
            }
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(file);
            throw e;
        }
        Files.setLastModifiedTime(file, FileTime.from(at));
        removeOldest();
        return file;
    }

    /** Creates the folder. Another user could have put a link there, so a link is refused. */
    void prepare() throws IOException {
        Files.createDirectories(folder.toAbsolutePath().getParent());
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException(folder + ": expected a folder, seen another kind of file");
        }
    }

    private static void add(ZipOutputStream zip, Instant at, Entry entry) throws IOException {
        ZipEntry head = new ZipEntry(entry.name());
        head.setTime(at.toEpochMilli());
        zip.putNextEntry(head);
        try (InputStream in = entry.content().open()) {
            in.transferTo(zip);
        }
        zip.closeEntry();
    }

    private static FileTime written(Path file) {
        try {
            return Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void removeOldest() throws IOException {
        List<Path> newest;
        try (Stream<Path> all = Files.list(folder)) {
            newest = all.filter(
                            file -> OURS.matcher(file.getFileName().toString()).matches())
                    .sorted(Comparator.comparing(EvidenceFolder::written).reversed())
                    .toList();
        } catch (UncheckedIOException e) {
            throw new IOException(e.getMessage(), e);
        }
        long bytes = 0;
        for (int i = 0; i < newest.size(); i++) {
            bytes += Files.size(newest.get(i));
            // The newest archive stays, also if it alone exceeds the limit.
            if (i > 0 && (i >= MOST || bytes > mostBytes)) {
                Files.delete(newest.get(i));
            }
        }
    }
}
