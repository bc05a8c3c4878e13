package dev.gpuwarden.runner.compile;

import dev.gpuwarden.runner.TestModule;
import dev.gpuwarden.runner.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Brings the classes that a module's tests run with up to date. An edited file is compiled by itself. If others see a difference
 * (a member, a type, a constant), all of its part is compiled again, and all parts that may use it.
 */
public final class Edits {

    private final Workspace workspace;
    private final Javac javac = new Javac();

    public Edits(Workspace workspace) {
        this.workspace = workspace;
    }

    /**
     * Compiles what the tests of this module need; nothing when nothing was edited.
     *
     * @return the compiled parts, for output
     * @throws CompileError when it does not compile
     */
    public List<String> compile(TestModule module) throws IOException {
        List<String> done = new ArrayList<>();
        FileTime seen = Stamp.NEVER;
        for (Part part : parts(module)) {
            long start = System.nanoTime();
            int files = compile(part, seen);
            seen = Stamp.later(seen, Stamp.INTERFACE.of(part));
            if (files > 0) {
                done.add(String.format(
                        Locale.ROOT,
                        "compiled %s: %d files in %.1f s",
                        part.name(),
                        files,
                        (System.nanoTime() - start) / 1e9));
            }
        }
        return done;
    }

    /**
     * Returns how many files were compiled.
     *
     * @param below when others last saw a difference in what this part may use
     */
    private int compile(Part part, FileTime below) throws IOException {
        part.copyResources();
        for (Path orphan : part.orphans()) {
            Stamp.INTERFACE.set(part);
            Files.delete(orphan);
        }
        int files = 0;
        if (!older(part, below)) {
            List<Path> edited = part.edited();
            Services.need(part, edited);
            replace(part, edited);
            files = edited.size();
        }
        if (older(part, below)) {
            files = part.files().size();
            replace(part, part.files());
            Stamp.WHOLE.set(part);
        }
        return files;
    }

    /** Returns true when all files must be compiled, for a difference below the part or in it, until that has succeeded. */
    private static boolean older(Part part, FileTime below) throws IOException {
        return Stamp.WHOLE.of(part).compareTo(Stamp.later(below, Stamp.INTERFACE.of(part))) < 0;
    }

    /** Returns the parts in the order of compilation. */
    private List<Part> parts(TestModule module) {
        List<Part> parts = new ArrayList<>();
        List<Path> used = workspace.classPath(module);
        for (TestModule one : workspace.closure(module)) {
            List<Path> path = workspace.classPath(one);
            parts.add(new Part(one.name(), one.folder().resolve("src/main"), one.classes(), path));
            if (used.contains(one.testClasses())) {
                parts.add(new Part(one.name() + " tests", one.folder().resolve("src/test"), one.testClasses(), path));
            }
        }
        return parts;
    }

    /** Compiles these files; records a difference that other classes see. */
    private void replace(Part part, List<Path> files) throws IOException {
        if (files.isEmpty()) {
            return;
        }
        Path fresh = Files.createTempDirectory(
                Files.createDirectories(part.classes()).getParent(), "edited");
        try {
            javac.compile(files, fresh, part.path());
            List<Path> before = files.stream()
                    .flatMap(file -> classFiles(part, file).stream())
                    .toList();
            List<Path> after = Part.in(fresh);
            if (Interface.differs(part.classes(), fresh, before, after)) {
                Stamp.INTERFACE.set(part);
            }
            for (Path old : before) {
                Files.delete(old);
            }
            for (Path file : after) {
                Path to = part.classes().resolve(fresh.relativize(file).toString());
                Files.createDirectories(to.getParent());
                Files.move(file, to, StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            try (var left = Files.walk(fresh)) {
                for (Path path : left.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    /** Returns the class files of a source: of its class and of nested ones. */
    private static List<Path> classFiles(Part part, Path source) {
        Path top = part.classes().resolve(part.relative(source) + ".class");
        String name = String.valueOf(source.getFileName());
        String inside = name.substring(0, name.length() - ".java".length()) + "$";
        List<Path> found = new ArrayList<>();
        if (Files.exists(top)) {
            found.add(top);
        }
        Path folder = top.getParent();
        if (folder != null) {
            Part.in(folder).stream()
                    .filter(file -> folder.equals(file.getParent())
                            && String.valueOf(file.getFileName()).startsWith(inside))
                    .forEach(found::add);
        }
        return found;
    }
}
