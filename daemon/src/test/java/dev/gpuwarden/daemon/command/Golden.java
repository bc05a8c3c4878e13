package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Expected outputs in src/test/resources/golden; {@code -Dgolden.update=true} writes them, to be read before committing. */
final class Golden {

    private static final Path FOLDER =
            Path.of(System.getProperty("gpuwarden.repository"), "daemon/src/test/resources/golden");

    private Golden() {}

    static void check(String name, String seen) throws IOException {
        Path file = FOLDER.resolve(name);
        if (Boolean.getBoolean("golden.update")) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, seen);
            return;
        }
        assertThat(file).as("write it with -Dgolden.update=true").exists();
        assertThat(seen).isEqualTo(Files.readString(file));
    }
}
