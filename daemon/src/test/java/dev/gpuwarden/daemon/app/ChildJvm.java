package dev.gpuwarden.daemon.app;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.util.OSInfo;

/** JVMs beside the test's own. */
public final class ChildJvm {

    private ChildJvm() {}

    /** Returns the program as users start it; from the classes, if no image of this build is at hand. */
    public static ProcessBuilder gpuwarden(List<String> arguments) {
        String image = System.getProperty("gpuwarden.image");
        if (image == null) {
            return of("dev.gpuwarden.cli.Main", arguments);
        }
        List<String> command = new ArrayList<>(List.of(image + "/bin/gpuwarden"));
        command.addAll(arguments);
        return new ProcessBuilder(command);
    }

    public static ProcessBuilder of(String mainClass, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-Dgpuwarden.native.dir=" + System.getProperty("gpuwarden.native.dir"),
                "-Dorg.sqlite.lib.path=" + Sqlite.FOLDER,
                "-cp",
                System.getProperty("java.class.path"),
                mainClass));
        command.addAll(arguments);
        return new ProcessBuilder(command);
    }

    private static final class Sqlite {

        /** Unpacked once: each child would unpack its own, and leave it behind when it is killed. */
        static final Path FOLDER = unpackSqlite();
    }

    private static Path unpackSqlite() {
        String name = "libsqlitejdbc.so";
        String resource = "/org/sqlite/native/" + OSInfo.getNativeLibFolderPathForCurrentOS() + "/" + name;
        try (InputStream library = Objects.requireNonNull(SQLiteJDBCLoader.class.getResourceAsStream(resource))) {
            Path folder = Files.createTempDirectory("gpuwarden-sqlite");
            folder.toFile().deleteOnExit();
            Path file = folder.resolve(name);
            Files.copy(library, file);
            file.toFile().deleteOnExit();
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
