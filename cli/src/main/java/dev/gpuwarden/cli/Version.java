package dev.gpuwarden.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.IVersionProvider;

/** The output of `--version`: the program, the Java runtime, the operating system, and a class archive that is not in use. */
public final class Version implements IVersionProvider {

    /** Returns the program's version, which the build wrote. */
    public static String program() {
        try (InputStream in = Version.class.getResourceAsStream("version.txt")) {
            return in == null ? "unknown" : new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String[] getVersion() {
        List<String> lines = new ArrayList<>(List.of(
                "gpuwarden " + program(),
                "java " + System.getProperty("java.runtime.version") + " (" + System.getProperty("java.vendor") + ")",
                "os " + System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch")));
        ClassArchive.ofProcess()
                .filter(archive -> !archive.inUse())
                .ifPresent(archive -> lines.add("class archive " + archive.advice()));
        return lines.toArray(String[]::new);
    }
}
