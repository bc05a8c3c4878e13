package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The driver library that a container got at its start, which stays when the node's driver is upgraded. */
final class OwnLibrary {

    /** A version of the driver, such as 550.163.01; the library puts CUDA's own number before it. */
    private static final Pattern VERSION = Pattern.compile("(?<![0-9])([0-9]{3})\\.([0-9]{1,3})(?:\\.([0-9]{1,3}))?");

    private OwnLibrary() {}

    /**
     * Returns whether a mismatch may be one of this program's own container alone. False on the host, and if the library is newer than the
     * kernel module: then the node's own driver was upgraded without a reload.
     */
    static boolean isStale(CheckContext context) {
        // Trees of other nodes have no process of this program.
        return context.node().driver() instanceof DriverState.Unavailable none
                && NodeFacts.inContainer()
                && Files.isSymbolicLink(context.procfs().resolve("self"))
                && !isNewer(none.detail(), module(context.procfs()));
    }

    private static String module(Path procfs) {
        try {
            return Files.readString(procfs.resolve("driver/nvidia/version"));
        } catch (IOException e) {
            return "";
        }
    }

    /** Returns whether both texts have a version, and that of the library is the higher one. */
    static boolean isNewer(String library, String module) {
        Optional<Long> own = version(library);
        Optional<Long> loaded = version(module);
        return own.isPresent() && loaded.isPresent() && own.get() > loaded.get();
    }

    private static Optional<Long> version(String text) {
        Matcher version = VERSION.matcher(text);
        if (!version.find()) {
            return Optional.empty();
        }
        long last = version.group(3) == null ? 0 : Long.parseLong(version.group(3));
        return Optional.of((Long.parseLong(version.group(1)) * 1000 + Long.parseLong(version.group(2))) * 1000 + last);
    }
}
