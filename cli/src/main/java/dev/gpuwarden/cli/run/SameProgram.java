package dev.gpuwarden.cli.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Starts this program again, with other arguments. Its command line is not read from the process table: Java reads at most 4096
 * bytes there, and the path of the image alone occurs some sixty times.
 */
public final class SameProgram {

    private static final String MAIN = "dev.gpuwarden.cli.Main";

    /** System properties that the image's start script sets, and tests in its place. */
    private static final List<String> PASSED_ON =
            List.of("gpuwarden.", "jna.", "org.sqlite.", "java.library.path", "java.io.tmpdir");

    private SameProgram() {}

    /** Returns a process to start, with this environment in addition to that of this process. */
    public static ProcessBuilder run(Map<String, String> environment, String... arguments) {
        List<String> command = new ArrayList<>(command());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        return builder;
    }

    /** Returns the image's start script, which adds the options of each command; from class folders Java with this process's options. */
    public static List<String> command() {
        Path script = Path.of(System.getProperty("gpuwarden.home", ""), "bin", "gpuwarden");
        if (script.isAbsolute() && Files.isExecutable(script)) {
            return List.of(script.toString());
        }
        List<String> command = new ArrayList<>();
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC"));
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> PASSED_ON.stream().anyMatch(name::startsWith))
                .sorted()
                .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
        return command;
    }
}
