package dev.gpuwarden.testkit.command;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Starts this program again, with other arguments: the same Java, the same options, the same class path. */
final class SameProgram {

    private static final String MAIN = "dev.gpuwarden.cli.Main";

    private SameProgram() {}

    static ProcessBuilder run(Map<String, String> environment, String... arguments) {
        List<String> command = new ArrayList<>(List.of(java()));
        command.addAll(options());
        command.add(MAIN);
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        return builder;
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** What stands before the main class, as far as the system tells; else what the program cannot do without. */
    private static List<String> options() {
        List<String> own = List.of(ProcessHandle.current().info().arguments().orElse(new String[0]));
        int main = own.indexOf(MAIN);
        if (main >= 0) {
            return own.subList(0, main);
        }
        List<String> options = new ArrayList<>();
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith("gpuwarden.") || name.startsWith("jna."))
                .collect(
                        TreeMap<String, String>::new,
                        (map, name) -> map.put(name, System.getProperty(name)),
                        Map::putAll)
                .forEach((name, value) -> options.add("-D" + name + "=" + value));
        options.add("-cp");
        options.add(System.getProperty("java.class.path"));
        return options;
    }
}
