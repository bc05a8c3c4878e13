package dev.gpuwarden.checks.child;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.run.SameProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The rule for programs that run with this program's rights: no other user may be able to change or replace one. So the
 * file is tested, and each folder above it.
 */
public final class FileTrust {

    private static final int WRITABLE_BY_OTHERS = 022;
    private static final int STICKY = 01000;
    private static final int PERMISSIONS = 07777;
    private static final String USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    private FileTrust() {}

    /** Returns why the file must not run, as text that follows the file's name; empty if it may run. Follows links. */
    public static Optional<String> problem(Path file) {
        try {
            Path real = file.toRealPath();
            if (!Files.isRegularFile(real)) {
                return Optional.of("is not a file");
            }
            if (!Files.isExecutable(real)) {
                return Optional.of("is not executable");
            }
            return changeable(real);
        } catch (NoSuchFileException e) {
            return Optional.of("does not exist");
        } catch (IOException e) {
            return Optional.of("cannot be examined (" + FileErrors.why(e) + ")");
        }
    }

    /**
     * Returns why others can change what lies in a folder, or create it where it does not exist, as text that follows its name; empty
     * if they cannot.
     */
    public static Optional<String> folderProblem(Path folder) {
        Path seen = folder.toAbsolutePath();
        for (Path parent = seen.getParent(); parent != null && !Files.exists(seen); parent = parent.getParent()) {
            seen = parent;
        }
        try {
            return changeable(seen.toRealPath());
        } catch (IOException e) {
            return Optional.of("cannot be examined (" + FileErrors.why(e) + ")");
        }
    }

    /**
     * Returns why the first word of a command must not run, as a whole text; empty if it may run.
     *
     * @param environment has the PATH in which a name without a slash is searched
     */
    public static Optional<String> problem(String word, Path folder, Map<String, String> environment) {
        if (word.contains("/")) {
            Path file = folder.resolve(word);
            return problem(file).map(why -> file + " " + why);
        }
        String path = environment.getOrDefault("PATH", USUAL_PATH);
        for (String each : path.split(":", -1)) {
            Path file = folder.resolve(each).resolve(word);
            if (Files.isExecutable(file) && !Files.isDirectory(file)) {
                return problem(file).map(why -> file + " " + why);
            }
        }
        return Optional.of(word + " is in no folder of PATH: " + path);
    }

    /** The same, also of the programs that start the command. The program that runs already needs no proof. */
    static Optional<String> problem(
            List<String> command, List<String> starters, Path folder, Map<String, String> environment) {
        List<String> words = new ArrayList<>(starters);
        if (!SameProgram.command().get(0).equals(command.get(0))) {
            words.add(command.get(0));
        }
        return words.stream()
                .map(word -> problem(word, folder, environment))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static Optional<String> changeable(Path real) throws IOException {
        Optional<String> own = changeable(real, Files.isDirectory(real));
        for (Path folder = real.getParent(); own.isEmpty() && folder != null; folder = folder.getParent()) {
            Path above = folder;
            own = changeable(folder, true).map(why -> "lies in " + above + ", which " + why);
        }
        return own;
    }

    /**
     * Returns why others can change the path. In a folder with the sticky bit, others can add files but cannot replace
     * another user's files.
     */
    private static Optional<String> changeable(Path path, boolean folder) throws IOException {
        int mode = (Integer) Files.getAttribute(path, "unix:mode");
        int owner = (Integer) Files.getAttribute(path, "unix:uid");
        String seen = String.format(Locale.ROOT, "user %d (mode %04o)", owner, mode & PERMISSIONS);
        if (owner != 0 && owner != ownUser()) {
            return Optional.of("belongs to " + seen + ", expected root or the user of this program");
        }
        boolean sticky = folder && (mode & STICKY) != 0;
        return (mode & WRITABLE_BY_OTHERS) != 0 && !sticky
                ? Optional.of("users other than its owner may write to; it belongs to " + seen)
                : Optional.empty();
    }

    private static int ownUser() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }
}
