package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.SuppressForbidden;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** libgpuwarden_jni.so, which runs a whole plan in one call. */
final class JniLibrary {

    private static final String FILE = "libgpuwarden_jni.so";

    /** Properties with folders that the launcher sets: gpuwarden's own, and the folder of the unpacked JNA library. */
    private static final List<String> PROPERTIES = List.of("gpuwarden.native.dir", "jna.boot.library.path");

    private JniLibrary() {}

    /**
     * Loads the library, once per process.
     *
     * @return the reason why it cannot be used; empty where it can
     */
    static Optional<String> whyNot() {
        return Loaded.WHY_NOT;
    }

    static native int abi();

    /**
     * Runs the plan image at this address.
     *
     * @param frame a direct buffer of a whole frame
     * @return false where the library reported that it is not initialised
     * @throws IllegalArgumentException where the buffer is not direct; nothing was called then
     */
    static native boolean run(long image, long device, ByteBuffer frame);

    /** Returns the library in the first folder that has it. */
    static Optional<Path> find(List<String> folders) {
        return folders.stream()
                .map(folder -> Path.of(folder).toAbsolutePath().resolve(FILE))
                .filter(Files::exists)
                .findFirst();
    }

    private static final class Loaded {
        static final Optional<String> WHY_NOT = load();

        @SuppressForbidden("loads our own JNI library")
        private static Optional<String> load() {
            List<String> folders = new ArrayList<>();
            for (String property : PROPERTIES) {
                String folder = System.getProperty(property);
                if (folder != null) {
                    folders.add(folder);
                }
            }
            Optional<Path> file = find(folders);
            if (file.isEmpty()) {
                return Optional.of(
                        FILE + " is not in " + (folders.isEmpty() ? "gpuwarden.native.dir (not set)" : folders));
            }
            try {
                System.load(file.get().toString());
                int abi = abi();
                return abi == PlanImage.ABI
                        ? Optional.empty()
                        : Optional.of(file.get() + " is of another version: " + abi + ", not " + PlanImage.ABI);
            } catch (LinkageError e) {
                return Optional.of(String.valueOf(e.getMessage()));
            }
        }
    }
}
