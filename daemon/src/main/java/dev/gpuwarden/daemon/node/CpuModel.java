package dev.gpuwarden.daemon.node;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The model of the node's processor. */
public final class CpuModel {

    private static final int ENOUGH_BYTES = 8192;

    private CpuModel() {}

    /** Returns the first processor's model name; empty if /proc/cpuinfo has none, as on most ARM machines. */
    public static String of(NodePaths paths) {
        Path file = paths.procfs().resolve("cpuinfo");
        try (InputStream in = Files.newInputStream(file)) {
            return parse(new String(in.readNBytes(ENOUGH_BYTES), StandardCharsets.UTF_8));
        } catch (IOException e) {
            return "";
        }
    }

    static String parse(String cpuinfo) {
        return cpuinfo.lines()
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse("");
    }
}
