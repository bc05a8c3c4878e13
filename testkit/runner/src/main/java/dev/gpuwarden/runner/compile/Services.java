package dev.gpuwarden.runner.compile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The service files that the processor of `@AutoService` writes, which only runs in Maven's build. */
final class Services {

    private Services() {}

    /** @throws CompileError when an edit adds or removes a service: the build must write its file */
    static void need(Part part, List<Path> edited) {
        Set<String> listed = Part.in(part.classes().resolve("META-INF/services")).stream()
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
