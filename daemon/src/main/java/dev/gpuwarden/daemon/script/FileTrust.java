package dev.gpuwarden.daemon.script;

import dev.gpuwarden.cli.FileErrors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** The rule for programs that may run with this program's rights: no other user may be able to change it. */
final class FileTrust {

    private static final int WRITABLE_BY_OTHERS = 022;
    private static final int STICKY = 01000;

    private FileTrust() {}

    /** Returns why the file must not run, as text that follows the file's name; empty if it may run. Follows links. */
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
            return Optional.of("cannot be examined (" + FileErrors.why(e) + ")");
        }
    }

    /**
     * Returns why others can change the path. In a folder with the sticky bit, others can add files but cannot replace
     * another user's files.
     */
    private static Optional<String> changeable(Path path, boolean folder) throws IOException {
        int mode = (Integer) Files.getAttribute(path, "unix:mode");
        int owner = (Integer) Files.getAttribute(path, "unix:uid");
        if (owner != 0 && owner != ownUser()) {
            return Optional.of("belongs to user " + owner + ", expected root or the user of this program");
        }
        boolean sticky = folder && (mode & STICKY) != 0;
        return (mode & WRITABLE_BY_OTHERS) != 0 && !sticky
                ? Optional.of("users other than its owner may write to")
                : Optional.empty();
    }

    private static int ownUser() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }
}
