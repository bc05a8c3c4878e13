package dev.gpuwarden.daemon.script;

import dev.gpuwarden.cli.FileErrors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** Whether a program may be run with this program's rights: nobody else may be able to change it. */
final class FileTrust {

    private static final int WRITABLE_BY_OTHERS = 022;
    private static final int STICKY = 01000;

    private FileTrust() {}

    /** Why the file may not be run, in words that go on with the file's name; empty where it may. Links are followed. */
    static Optional<String> problem(Path file) {
        try {
            Path real = file.toRealPath();
            if (!Files.isRegularFile(real)) {
                return Optional.of("is not a file");
            }
            if (!Files.isExecutable(real)) {
                return Optional.of("is not executable");
            }
            Optional<String> own = changeable(real, false);
            Path folder = real.getParent();
            return own.isPresent() || folder == null
                    ? own
                    : changeable(folder, true).map(why -> "lies in " + folder + ", which " + why);
        } catch (NoSuchFileException e) {
            return Optional.of("does not exist");
        } catch (IOException e) {
            return Optional.of("cannot be looked at (" + FileErrors.why(e) + ")");
        }
    }

    /** In a folder with the sticky bit others can add files, and not replace those of somebody else. */
    private static Optional<String> changeable(Path path, boolean folder) throws IOException {
        int mode = (Integer) Files.getAttribute(path, "unix:mode");
        int owner = (Integer) Files.getAttribute(path, "unix:uid");
        if (owner != 0 && owner != ownUser()) {
            return Optional.of("belongs to user " + owner + ", expected root or the user of this program");
        }
        boolean sticky = folder && (mode & STICKY) != 0;
        return (mode & WRITABLE_BY_OTHERS) != 0 && !sticky
                ? Optional.of("others than its owner may write to")
                : Optional.empty();
    }

    private static int ownUser() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }
}
