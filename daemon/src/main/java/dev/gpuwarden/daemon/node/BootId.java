package dev.gpuwarden.daemon.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The id of the node's boot. */
public final class BootId {

    private BootId() {}

    /** Reads the kernel's id; else the time of the boot; "unknown", which never changes, where the node has neither. */
    public static String read(Path procfs) {
        try {
            String id = Files.readString(procfs.resolve("sys/kernel/random/boot_id"))
                    .trim();
            if (id.matches("[0-9a-fA-F-]{8,64}")) {
                return id;
            }
        } catch (IOException e) {
            // The time of the boot is read below.
        }
        try (var lines = Files.lines(procfs.resolve("stat"))) {
            return lines.filter(line -> line.startsWith("btime "))
                    .map(line -> "btime-" + line.substring(6).trim())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException | java.io.UncheckedIOException e) {
            return "unknown";
        }
    }
}
