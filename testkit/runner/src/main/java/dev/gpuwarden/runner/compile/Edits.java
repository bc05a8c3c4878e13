package dev.gpuwarden.runner.compile;

import dev.gpuwarden.runner.TestModule;
import dev.gpuwarden.runner.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Brings the classes that a module's tests run with up to date. An edited file is compiled by itself. Where others see a difference
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
     * @return what was compiled, for people
     * @throws CompileError when it does not compile
     */
    public List<String> compile(TestModule module) throws IOException {
        List<String> done = new ArrayList<>();
        boolean all = false;
        for (Part part : parts(module)) {
            long start = System.nanoTime();
            int files = 0;
            part.copyResources();
            List<Path> orphans = part.orphans();
            for (Path orphan : orphans) {
                Files.delete(orphan);
            }
            all |= !orphans.isEmpty();
            if (!all) {
                List<Path> edited = part.edited();
                Services.need(part, edited);
                files = edited.size();
                all = !edited.isEmpty() && replace(part, edited);
            }
            if (all) {
                files = part.files().size();
                replace(part, part.files());
            }
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

    /** In the order in which they are compiled. */
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

    /** Returns whether others see a difference. */
    private boolean replace(Part part, List<Path> files) throws IOException {
        if (files.isEmpty()) {
            return false;
        }
        Path fresh = Files.createTempDirectory(
                Files.createDirectories(part.classes()).getParent(), "edited");
        try {
            javac.compile(files, fresh, part.path());
            List<Path> before = files.stream()
                    .flatMap(file -> classFiles(part, file).stream())
                    .toList();
            List<Path> after = Part.in(fresh);
            boolean differs = Interface.differs(part.classes(), fresh, before, after);
            for (Path old : before) {
                Files.delete(old);
            }
            for (Path file : after) {
                Path to = part.classes().resolve(fresh.relativize(file).toString());
                Files.createDirectories(to.getParent());
                Files.move(file, to, StandardCopyOption.REPLACE_EXISTING);
            }
            return differs;
        } finally {
            try (var left = Files.walk(fresh)) {
                for (Path path : left.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    /** Those of a source: of its class and the classes inside. */
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
