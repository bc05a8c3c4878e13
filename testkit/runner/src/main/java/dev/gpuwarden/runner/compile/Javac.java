package dev.gpuwarden.runner.compile;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The compiler, in this process. */
final class Javac {

    private static final int RELEASE = 17;

    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();

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
