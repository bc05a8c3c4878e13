package dev.gpuwarden.checks.node;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Attributes of the kernel's /sys: short texts, each with a cause of absence. */
public final class Sysfs {

    /** An attribute is at most a page (Documentation/filesystems/sysfs.rst). A file that is not the kernel's may be endless. */
    private static final int PAGE = 4096;

    private static final int SMALL = 64;

    private Sysfs() {}

    /** Returns the text of an attribute; NO_DATA if there is no such file. */
    public static Reading<String> text(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            // A page for each of some hundred small files would be most of what the idle daemon allocates.
            byte[] bytes = new byte[SMALL];
            int length = in.readNBytes(bytes, 0, SMALL);
            while (length == bytes.length && length < PAGE) {
                bytes = Arrays.copyOf(bytes, 8 * length);
                length += in.readNBytes(bytes, length, bytes.length - length);
            }
            return Reading.of(new String(bytes, 0, length, StandardCharsets.ISO_8859_1).strip());
        } catch (IOException e) {
            return absent(file, e);
        }
    }

    /**
     * Returns the number at the beginning of the text, decimal or 0x: state files contain "4: ACTIVE", rates "400
     * Gb/sec (4X NDR)".
     */
    public static Reading<Long> number(Path file) {
        return number(file, text(file));
    }

    private static Reading<Long> number(Path file, Reading<String> text) {
        if (!(text instanceof Reading.Present<String> present)) {
            return text.map(any -> 0L);
        }
        try {
            return Reading.of(Long.decode(word(present.value())));
        } catch (NumberFormatException e) {
            return Reading.absent(Absence.IMPLAUSIBLE, 0, file + " is not a number");
        }
    }

    private static String word(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == ':' || c == '.' || Character.isWhitespace(c)) {
                return text.substring(0, i);
            }
        }
        return text;
    }

    /** Returns the names in a folder, sorted; NO_DATA if there is no such folder. */
    public static Reading<List<String>> names(Path folder) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
        } catch (DirectoryIteratorException e) {
            return Reading.absent(Absence.FAILED, 0, String.valueOf(e.getMessage()));
        } catch (IOException e) {
            return absent(folder, e);
        }
        Collections.sort(names);
        return Reading.of(List.copyOf(names));
    }

    /** Returns the full path of the link's target; empty if it has none. */
    public static Optional<Path> real(Path link) {
        try {
            return Optional.of(link.toRealPath());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns the last name of the link's target, for example of `driver`; empty if there is no such link. */
    public static String linked(Path link) {
        return real(link).map(Path::getFileName).map(Path::toString).orElse("");
    }

    /** Returns the address of the PCI device with this folder; empty if the folder is not one of a PCI device. */
    public static Optional<PciAddress> pci(Path folder) {
        Path name = folder.getFileName();
        // A whole name has domain and function: "pci0000:3a" is the root complex, and "3a:00" could be anything.
        return name == null || name.toString().length() < "0000:00:00.0".length()
                ? Optional.empty()
                : PciAddress.parse(name.toString());
    }

    private static <T> Reading<T> absent(Path path, IOException e) {
        if (e instanceof NoSuchFileException || e instanceof NotDirectoryException) {
            return Reading.absent(Absence.NO_DATA, 0, path + " does not exist");
        }
        if (e instanceof AccessDeniedException) {
            return Reading.absent(Absence.NO_PERMISSION, 0, path.toString());
        }
        // Drivers return errors of their own for a read: EINVAL, EIO, ENODEV.
        return Reading.absent(Absence.FAILED, 0, path + " (" + e.getMessage() + ")");
    }
}
