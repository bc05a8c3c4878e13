package dev.gpuwarden.testkit.command;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Starts this program again, with other arguments. The system's process table is not asked how: Java reads at most 4096 bytes of
 * a command line there, and the path of the image alone stands in it some sixty times.
 */
final class SameProgram {

    private static final String MAIN = "dev.gpuwarden.cli.Main";

    /** What the start script of the image passes to Java, and what tests pass in its place. */
    private static final List<String> PASSED_ON =
            List.of("gpuwarden.", "jna.", "org.sqlite.", "java.library.path", "java.io.tmpdir");

    private SameProgram() {}

    static ProcessBuilder run(Map<String, String> environment, String... arguments) {
        List<String> command = new ArrayList<>(start());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        return builder;
    }

    /** The image's start script, which gives each command its own options; from class folders Java with this one's. */
    private static List<String> start() {
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
