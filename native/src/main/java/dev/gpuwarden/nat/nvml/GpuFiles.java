package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.model.GpuIdentity;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The device files of GPUs: `nvidiaN`, N the minor number, in /dev and in the folders of those that this process holds open. */
public final class GpuFiles {

    private static final Pattern NAME = Pattern.compile("nvidia\\d+");
    private static final Path OPEN = Path.of("/proc/self/fd");

    private final Set<Path> folders = new HashSet<>(Set.of(Path.of("/dev")));

    /** Returns the files of all other GPUs. Call it while the library runs, since a simulated driver has its own folder. */
    public synchronized Set<Path> others(List<GpuIdentity> kept) {
        findFolders();
        Set<String> own = kept.stream()
                .flatMap(gpu -> gpu.minor().asOptional().stream())
                .map(minor -> "nvidia" + minor)
                .collect(Collectors.toSet());
        Set<Path> others = new HashSet<>();
        for (Path folder : folders) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "nvidia*")) {
                for (Path file : files) {
                    String name = file.getFileName().toString();
                    if (NAME.matcher(name).matches() && !own.contains(name)) {
                        others.add(file.toRealPath());
                    }
                }
            } catch (IOException | DirectoryIteratorException e) {
                // Without the folder there is no such file.
                continue;
            }
        }
        return others;
    }

    private void findFolders() {
        try (DirectoryStream<Path> open = Files.newDirectoryStream(OPEN)) {
            for (Path descriptor : open) {
                try {
                    Path file = Files.readSymbolicLink(descriptor);
                    if (file.isAbsolute()
                            && NAME.matcher(String.valueOf(file.getFileName())).matches()) {
                        folders.add(file.getParent());
                    }
                } catch (IOException e) {
                    // Closed since the listing.
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // A system without /proc has /dev alone.
            return;
        }
    }
}
