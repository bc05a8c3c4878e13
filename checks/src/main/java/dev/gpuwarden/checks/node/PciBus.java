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
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * NVIDIA GPUs on the kernel's PCI bus, whether or not the driver lists them.
 *
 * <p>Display and 3D controllers (class 0300 and 0302) count. SR-IOV virtual functions do not count, because they are
 * parts of a GPU that counts. Devices bound to vfio-pci or pci-stub do not count, because they were assigned to a
 * virtual machine on purpose.
 */
public final class PciBus {

    private static final String VFIO = "vfio-pci";
    private static final String STUB = "pci-stub";

    private static final int NVIDIA = 0x10de;
    private static final int CLASS_VGA = 0x0300;
    private static final int CLASS_3D = 0x0302;

    private final Path devices;

    public PciBus(NodePaths paths) {
        devices = paths.sysfs().resolve("bus/pci/devices");
    }

    /**
     * Returns the GPUs in bus order. Absent if the bus cannot be read; a device whose own files cannot be read makes
     * all of it absent.
     */
    public Reading<List<PciAddress>> gpus() {
        return devices(device -> isWhole(device) && !boundTo(device, VFIO) && !boundTo(device, STUB));
    }

    /**
     * Returns the GPUs, and virtual functions of GPUs, that a virtual machine can have through vfio-pci. No process has the file of
     * such a GPU in /dev open, and the driver does not list it. Absent as the others.
     */
    public Reading<List<PciAddress>> passedThrough() {
        return devices(device -> boundTo(device, VFIO));
    }

    private Reading<List<PciAddress>> devices(Predicate<Path> condition) {
        List<PciAddress> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(devices)) {
            for (Path entry : entries) {
                Optional<PciAddress> address =
                        PciAddress.parse(entry.getFileName().toString());
                if (address.isPresent() && isDisplay(entry) && condition.test(entry)) {
                    found.add(address.get());
                }
            }
        } catch (DirectoryIteratorException e) {
            return Reading.absent(Absence.FAILED, 0, String.valueOf(e.getMessage()));
        } catch (IOException e) {
            return unreadable(e);
        }
        Collections.sort(found);
        return Reading.of(List.copyOf(found));
    }

    private Reading<List<PciAddress>> unreadable(IOException e) {
        if (e instanceof NoSuchFileException || e instanceof NotDirectoryException) {
            return Reading.absent(Absence.NO_DATA, 0, devices + " does not exist");
        }
        if (e instanceof AccessDeniedException) {
            return Reading.absent(Absence.NO_PERMISSION, 0, String.valueOf(e.getMessage()));
        }
        return Reading.absent(Absence.FAILED, 0, e.toString());
    }

    private static boolean isDisplay(Path device) throws IOException {
        Optional<Integer> vendor = hex(device.resolve("vendor"));
        if (vendor.isEmpty() || vendor.get() != NVIDIA) {
            return false;
        }
        Optional<Integer> type = hex(device.resolve("class"));
        int baseAndSub = type.orElse(0) >>> 8;
        return baseAndSub == CLASS_VGA || baseAndSub == CLASS_3D;
    }

    private static boolean isWhole(Path device) {
        return !Files.exists(device.resolve("physfn"), LinkOption.NOFOLLOW_LINKS);
    }

    private static boolean boundTo(Path device, String name) {
        try {
            Path driver = Files.readSymbolicLink(device.resolve("driver")).getFileName();
            return driver != null && driver.endsWith(name);
        } catch (IOException | UnsupportedOperationException e) {
            // No driver is bound, or its name cannot be read: the device counts.
            return false;
        }
    }

    /** Returns the number in a file such as "0x030200"; empty if the device went away just now or the text is no number. */
    private static Optional<Integer> hex(Path file) throws IOException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            // Enough for any number. A file that is not the kernel's may be endless.
            bytes = in.readNBytes(32);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        String text = new String(bytes, StandardCharsets.ISO_8859_1).strip();
        if (!text.startsWith("0x") || text.length() > 10) {
            return Optional.empty();
        }
        try {
            return Optional.of(Integer.parseUnsignedInt(text.substring(2), 16));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
