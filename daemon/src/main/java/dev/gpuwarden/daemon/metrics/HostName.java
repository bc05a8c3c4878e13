package dev.gpuwarden.daemon.metrics;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The node's name, without asking any name service. */
public final class HostName {

    private HostName() {}

    /** What the pod specification says in NODE_NAME, else what the kernel says. */
    public static String get() {
        String node = System.getenv("NODE_NAME");
        if (node != null && !node.isEmpty()) {
            return node;
        }
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).trim();
        } catch (IOException e) {
            return "";
        }
    }
}
