package dev.gpuwarden.runner.compile;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;

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
        for (SourceSet part : parts(module)) {
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
    private int compile(SourceSet part, FileTime below) throws IOException {
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
    private static boolean older(SourceSet part, FileTime below) throws IOException {
        return Stamp.WHOLE.of(part).compareTo(Stamp.later(below, Stamp.INTERFACE.of(part))) < 0;
    }

    /** Returns the parts in the order of compilation. */
    private List<SourceSet> parts(TestModule module) {
        List<SourceSet> parts = new ArrayList<>();
        List<Path> used = workspace.classPath(module);
        for (TestModule one : workspace.closure(module)) {
            List<Path> path = workspace.classPath(one);
            parts.add(new SourceSet(one.name(), one.folder().resolve("src/main"), one.classes(), path));
            if (used.contains(one.testClasses())) {
                parts.add(new SourceSet(
                        one.name() + " tests", one.folder().resolve("src/test"), one.testClasses(), path));
            }
        }
        return parts;
    }

    /** Compiles these files; records a difference that other classes see. */
    private void replace(SourceSet part, List<Path> files) throws IOException {
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
            List<Path> after = SourceSet.in(fresh);
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
    private static List<Path> classFiles(SourceSet part, Path source) {
        Path top = part.classes().resolve(part.relative(source) + ".class");
        String name = String.valueOf(source.getFileName());
        String inside = name.substring(0, name.length() - ".java".length()) + "$";
        List<Path> found = new ArrayList<>();
        if (Files.exists(top)) {
            found.add(top);
        }
        Path folder = top.getParent();
        if (folder != null) {
            SourceSet.in(folder).stream()
                    .filter(file -> folder.equals(file.getParent())
                            && String.valueOf(file.getFileName()).startsWith(inside))
                    .forEach(found::add);
        }
        return found;
    }

    /** The interface of compiled classes: members that are not private, with their types and constants. */
    static final class Interface {

        private static final ToolProvider JAVAP =
                ToolProvider.findFirst("javap").orElseThrow();

        private Interface() {}

        /** Returns true when the interface of a class has changed, or a class that others may use was added or removed. */
        static boolean differs(Path before, Path after, List<Path> classFilesBefore, List<Path> classFilesAfter) {
            return !of(before, classFilesBefore).equals(of(after, classFilesAfter));
        }

        private static Map<String, String> of(Path folder, List<Path> classFiles) {
            Map<String, String> texts = new TreeMap<>();
            List<Path> visible =
                    classFiles.stream().filter(file -> !anonymous(file)).toList();
            if (visible.isEmpty()) {
                return texts;
            }
            StringWriter out = new StringWriter();
            String[] arguments = java.util.stream.Stream.concat(
                            java.util.stream.Stream.of("-package", "-constants"),
                            visible.stream().map(Path::toString))
                    .toArray(String[]::new);
            JAVAP.run(new PrintWriter(out), new PrintWriter(out), arguments);
            String[] parts = out.toString().split("Compiled from [^\n]*\n");
            for (int i = 1; i < parts.length && i <= visible.size(); i++) {
                texts.put(folder.relativize(visible.get(i - 1)).toString(), parts[i]);
            }
            return texts;
        }

        private static boolean anonymous(Path classFile) {
            return classFile.getFileName().toString().matches(".*\\$\\d.*");
        }
    }

    /** The time of the last event of a part: that of an empty file beside its classes, which outlives a compiler that fails. */
    enum Stamp {
        /** Its interface changed. */
        INTERFACE,
        /** All of its files were compiled. */
        WHOLE;

        static final FileTime NEVER = FileTime.from(Instant.EPOCH);

        private Path file(SourceSet part) {
            String name = part.classes().getFileName() + "." + name().toLowerCase(Locale.ROOT);
            return part.classes().resolveSibling(name);
        }

        FileTime of(SourceSet part) throws IOException {
            Path file = file(part);
            return Files.exists(file) ? Files.getLastModifiedTime(file) : NEVER;
        }

        void set(SourceSet part) throws IOException {
            Path file = file(part);
            Files.createDirectories(part.classes());
            Files.writeString(file, "");
            Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
        }

        static FileTime later(FileTime one, FileTime other) {
            return one.compareTo(other) < 0 ? other : one;
        }
    }

    /** The service files that the processor of `@AutoService` writes, which only runs in Maven's build. */
    static final class Services {

        private Services() {}

        /** @throws CompileError when an edit adds or removes a service: the build must write its file */
        static void need(SourceSet part, List<Path> edited) {
            Set<String> listed = SourceSet.in(part.classes().resolve("META-INF/services")).stream()
                    .flatMap(file -> lines(file).stream())
                    .collect(Collectors.toSet());
            for (Path file : edited) {
                boolean declared = lines(file).stream().anyMatch(line -> line.startsWith("@AutoService"));
                boolean generated = listed.contains(part.relative(file).replace('/', '.'));
                if (declared && !generated) {
                    throw new CompileError(file + ": its @AutoService is new: run ./gpuwarden build once");
                }
            }
        }

        private static List<String> lines(Path file) {
            try {
                return Files.readAllLines(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** The compiler, in this process. */
    static final class Javac {

        private static final int RELEASE = 17;

        private final JavaCompiler compiler = javax.tools.ToolProvider.getSystemJavaCompiler();

        /**
         * Compiles without processors of annotations: what they generate stays as Maven made it.
         *
         * @throws CompileError with what the compiler reports
         */
        void compile(List<Path> files, Path to, List<Path> path) throws IOException {
            DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
            List<String> options = new ArrayList<>(List.of(
                    "-d",
                    to.toString(),
                    "-cp",
                    path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)),
                    "-proc:none",
                    "-parameters",
                    "-nowarn",
                    "-g"));
            if (Runtime.version().feature() != RELEASE) {
                options.addAll(List.of("--release", Integer.toString(RELEASE)));
            }
            try (StandardJavaFileManager manager =
                    compiler.getStandardFileManager(found, Locale.ROOT, StandardCharsets.UTF_8)) {
                boolean compiled = compiler.getTask(
                                null, manager, found, options, null, manager.getJavaFileObjectsFromPaths(files))
                        .call();
                if (!compiled) {
                    throw new CompileError(found.getDiagnostics().stream()
                            .filter(one -> one.getKind() == Diagnostic.Kind.ERROR)
                            .map(Javac::text)
                            .collect(Collectors.joining("\n")));
                }
            }
        }

        private static String text(Diagnostic<? extends JavaFileObject> error) {
            JavaFileObject source = error.getSource();
            String where = source == null ? "" : Path.of(source.toUri()) + ":" + error.getLineNumber() + ": ";
            return where + "error: " + error.getMessage(Locale.ROOT);
        }
    }

    /** An edit that does not compile; the message has the compiler's report. */
    public static final class CompileError extends RuntimeException {

        private static final long serialVersionUID = 1L;

        CompileError(String message) {
            super(message);
        }
    }
}
