package dev.gpuwarden.runner.compile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A Maven module, by its name, for example `daemon`. */
public record TestModule(String name, Path folder) {

    public Path target() {
        return folder.resolve("target");
    }

    public Path classes() {
        return target().resolve("classes");
    }

    public Path testClasses() {
        return target().resolve("test-classes");
    }

    /** Returns the class path of its tests from Maven, without the module itself. */
    public List<Path> dependencies() {
        try {
            String text = Files.readString(target().resolve("test.classpath")).strip();
            return Stream.of(text.split(":"))
                    .filter(entry -> !entry.isEmpty())
                    .map(Path::of)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
