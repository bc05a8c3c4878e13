package dev.gpuwarden.checks.process;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The processes that have the file of a GPU open: the one answer for resets and for reboots of an idle server. "No process" needs proof,
 * so the answer is absent unless each GPU and each process was searched. A process with work on a GPU, also on a MIG partition, has the
 * GPU's own file open; /dev/nvidiactl, /dev/nvidia-uvm and /dev/nvidia-caps alone prove no use of one. Reads files; never calls the driver.
 */
public final class GpuFileHolders {

    private static final Pattern GPU = Pattern.compile("nvidia[0-9]{1,4}");
    /** A line of /proc/driver/nvidia/gpus/ADDRESS/information. */
    private static final Pattern MINOR = Pattern.compile("(?m)^Device Minor:\\s*(\\d{1,4})\\s*$");

    private static final Path FIRST_PROCESS = Path.of("/proc/1");
    private static final Path OWN = Path.of("/proc/self");

    private final NodePaths paths;
    private final PciBus bus;
    private final ProcessOwners owners;

    public GpuFileHolders(NodePaths paths, ProcessOwners owners) {
        this.paths = paths;
        this.bus = new PciBus(paths);
        this.owners = owners;
    }

    /**
     * Returns the processes that hold one of these files open, without this one, for a reset of their GPUs. An ordinary user is not
     * shown the files of others; then they are missing here, and the driver refuses the reset.
     *
     * @param files of GPUs, such as /dev/nvidia0
     * @return absent with the cause if a process or a file cannot be read, or there is no file
     */
    public Reading<Set<Integer>> of(Collection<Path> files) {
        return search(files, isRoot())
                .map(search -> new TreeSet<>(search.byPid().keySet()));
    }

    /**
     * Returns the processes that hold any GPU of this node open, without this one.
     *
     * @param listed the GPUs that the driver lists; they are not enough, since the driver may list none
     * @return absent with the cause unless each GPU of the bus, of /dev and of the driver was searched, and each process
     */
    public Reading<Set<Integer>> ofNode(List<GpuIdentity> listed) {
        Reading<Set<Path>> files = files(listed);
        if (!(files instanceof Reading.Present<Set<Path>> present)) {
            return files.map(any -> Set.of());
        }
        return search(present.value(), true).map(search -> {
            Set<Integer> pids = new TreeSet<>(search.gpus());
            pids.addAll(search.byPid().keySet());
            return pids;
        });
    }

    private Reading<OpenFiles.Search> search(Collection<Path> files, boolean all) {
        if (files.isEmpty()) {
            return Reading.absent(Absence.NO_DATA, 0, "no GPU has a file in " + paths.devices());
        }
        if (owners.hiddenBecause().isPresent()) {
            return Reading.absent(
                    Absence.NO_PERMISSION, 0, owners.hiddenBecause().get());
        }
        if (!Files.exists(FIRST_PROCESS)) {
            return Reading.absent(Absence.NO_PERMISSION, 0, ProcessOwners.HIDDEN);
        }
        Reading<OpenFiles.Search> search = OpenFiles.search(files);
        String unread = search.asOptional().flatMap(OpenFiles.Search::unread).orElse("");
        return all && !unread.isEmpty()
                ? Reading.absent(Absence.NO_PERMISSION, 0, "the open files cannot be listed of " + unread)
                : search;
    }

    /** Returns a file for each GPU that any source has. */
    private Reading<Set<Path>> files(List<GpuIdentity> listed) {
        Set<Path> files = new TreeSet<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(paths.devices())) {
            for (Path file : all) {
                if (GPU.matcher(file.getFileName().toString()).matches()) {
                    files.add(file);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return Reading.absent(Absence.NO_DATA, 0, paths.devices() + " cannot be listed: " + e);
        }
        listed.forEach(gpu -> gpu.minor().asOptional().ifPresent(minor -> files.add(file(minor))));
        Reading<List<PciAddress>> onBus = bus.gpus();
        Reading<List<PciAddress>> passed = bus.passedThrough();
        if (onBus instanceof Reading.Absent<?> || passed instanceof Reading.Absent<?>) {
            Reading<List<PciAddress>> cause = onBus instanceof Reading.Absent<?> ? onBus : passed;
            return cause.map(any -> Set.of());
        }
        List<PciAddress> gpus = onBus.asOptional().orElseThrow();
        addMinors(files);
        int most = Math.max(gpus.size(), listed.size());
        if (files.size() < most) {
            return Reading.absent(
                    Absence.NO_DATA,
                    0,
                    "expected a file in " + paths.devices() + " for each of " + most + " GPUs, seen " + files.size());
        }
        for (PciAddress gpu : passed.asOptional().orElseThrow()) {
            if (!addVfio(gpu, files)) {
                return Reading.absent(
                        Absence.NO_DATA, 0, "the file of GPU " + gpu + " for virtual machines cannot be found");
            }
        }
        return Reading.of(files);
    }

    private Path file(int minor) {
        return paths.devices().resolve("nvidia" + minor);
    }

    /** Adds the files that the kernel module names. A module that is not loaded names none. */
    private void addMinors(Set<Path> files) {
        try (DirectoryStream<Path> gpus =
                Files.newDirectoryStream(paths.procfs().resolve("driver/nvidia/gpus"))) {
            for (Path gpu : gpus) {
                Matcher minor = MINOR.matcher(Files.readString(gpu.resolve("information")));
                if (minor.find()) {
                    files.add(file(Integer.parseInt(minor.group(1))));
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // The number of files is compared with that of the GPUs.
        }
    }

    /** Adds the files that a virtual machine opens. Returns false if there is none. */
    private boolean addVfio(PciAddress gpu, Set<Path> files) {
        Path device = paths.sysfs().resolve("bus/pci/devices/" + gpu);
        Path vfio = paths.devices().resolve("vfio");
        List<Path> found = new ArrayList<>();
        try {
            found.add(vfio.resolve(
                    Files.readSymbolicLink(device.resolve("iommu_group")).getFileName()));
        } catch (IOException e) {
            // Newer kernels can have a file for each device instead.
        }
        try (DirectoryStream<Path> each = Files.newDirectoryStream(device.resolve("vfio-dev"))) {
            each.forEach(name -> found.add(vfio.resolve("devices").resolve(name.getFileName())));
        } catch (IOException | DirectoryIteratorException e) {
            // Older kernels have a file for each group alone.
        }
        found.removeIf(file -> !Files.exists(file));
        return files.addAll(found) || !found.isEmpty();
    }

    private static boolean isRoot() {
        try {
            return Integer.valueOf(0).equals(Files.getAttribute(OWN, "unix:uid"));
        } catch (IOException e) {
            throw new IllegalStateException(FileErrors.why(e), e);
        }
    }
}
