package dev.gpuwarden.daemon.grpc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The user that this process runs as. */
final class OwnUser {

    private OwnUser() {}

    /** The effective user of the process as the kernel's own files show it (proc(5): they belong to it). */
    static int uid() {
        try {
            return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
