package dev.gpuwarden.checks.gpu;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The presence of a partition manager, which registers the GPUs of this node: a Fabric Manager with FABRIC_MODE 1 or 2, which registers GPUs when it
 * gives them to a guest (Fabric Manager User Guide, Shared NVSwitch and vGPU).
 */
enum PartitionManager {
    /** All processes are visible, and none is a Fabric Manager, or its FABRIC_MODE is 0. */
    NONE,
    PRESENT,
    /** Processes are hidden, or the settings of Fabric Manager cannot be read. */
    UNKNOWN;

    /** Name of the process, of which the kernel keeps 15 characters. */
    private static final String NAME = "nv-fabricmanage";

    private static final String USUAL = "/usr/share/nvidia/nvswitch/fabricmanager.cfg";
    private static final String MODE = "FABRIC_MODE=";
    private static final int MOST_BYTES = 64 * 1024;
    /** The inode of the first PID namespace (linux/proc_ns.h, PROC_PID_INIT_INO). */
    private static final String ALL_PROCESSES = "pid:[4026531836]";

    static PartitionManager of(Path procfs) {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(procfs, "[1-9]*")) {
            // The first process is visible and in the first namespace only where all others are visible too.
            if (!Files.readSymbolicLink(procfs.resolve("1/ns/pid")).toString().equals(ALL_PROCESSES)) {
                return UNKNOWN;
            }
            for (Path process : processes) {
                if (text(process.resolve("comm")).orElse("").strip().equals(NAME)) {
                    return ofMode(process);
                }
            }
            return NONE;
        } catch (IOException | DirectoryIteratorException | UnsupportedOperationException e) {
            return UNKNOWN;
        }
    }

    private static PartitionManager ofMode(Path process) {
        Path settings = process.resolve("root").resolve(settings(process).substring(1));
        return text(settings)
                .flatMap(text -> text.lines()
                        .map(line -> line.replace(" ", ""))
                        .filter(line -> line.startsWith(MODE))
                        .findFirst())
                .map(line -> line.equals(MODE + "0") ? NONE : PRESENT)
                .orElse(UNKNOWN);
    }

    /** Returns the absolute path of the file that the process was started with, by -c, else the usual one. */
    private static String settings(Path process) {
        String[] words = text(process.resolve("cmdline")).orElse("").split("\0");
        for (int i = 0; i + 1 < words.length; i++) {
            if ((words[i].equals("-c") || words[i].equals("--config")) && words[i + 1].startsWith("/")) {
                return words[i + 1];
            }
        }
        return USUAL;
    }

    private static Optional<String> text(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return Optional.of(new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
