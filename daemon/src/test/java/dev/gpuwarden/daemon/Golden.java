package dev.gpuwarden.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Expected outputs in src/test/resources/golden. {@code -Dgolden.update=true} writes them: read the difference before you commit it. */
public final class Golden {

    private static final Path FOLDER =
            Path.of(System.getProperty("gpuwarden.repository"), "daemon/src/test/resources/golden");

    private Golden() {}

    /**
     * Compares text with a file.
     *
     * @param name path below the folder, for example `metrics/grpc.prom`
     */
    public static void check(String name, String actual) throws IOException {
        Path file = file(name);
        if (Boolean.getBoolean("golden.update")) {
            Files.createDirectories(file.resolveSibling(""));
            Files.writeString(file, actual);
        }
        assertThat(file).as("write it with -Dgolden.update=true").exists();
        assertThat(actual.lines().toList()).isEqualTo(Files.readAllLines(file));
        assertThat(actual).as("line ends of %s", name).isEqualTo(Files.readString(file));
    }

    /** Compares lines with a file; each line ends with a line feed. */
    public static void check(String name, List<String> actual) throws IOException {
        check(name, String.join("\n", actual) + "\n");
    }

    /** Returns the path of such a file. */
    public static Path file(String name) {
        return FOLDER.resolve(name);
    }
}
