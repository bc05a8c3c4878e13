package dev.gpuwarden.checks.gpu;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/** Programs that build, install or load a driver now. */
final class DriverInstaller {

    /**
     * Names of such programs. The process of a driver's container, nvidia-driver, is not among them: it stays while the
     * driver is loaded.
     */
    private static final Set<String> NAMES = Set.of(
            "dkms", "nvidia-install", "nvidia-installer", "modprobe", "insmod", "depmod", "akmods", "akmodsbuild");

    private DriverInstaller() {}

    /** Returns one of them in words; empty if none is visible. In a PID namespace of its own, this program sees no other's. */
    static Optional<String> find(Path procfs) {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(procfs, "[1-9]*")) {
            for (Path process : processes) {
                String name = name(process);
                if (NAMES.contains(name)) {
                    return Optional.of("process " + process.getFileName() + " (" + name + ") is at work");
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // Not visible: the age of the node decides.
        }
        return Optional.empty();
    }

    private static String name(Path process) {
        try {
            return Files.readString(process.resolve("comm")).strip();
        } catch (IOException e) {
            return "";
        }
    }
}
