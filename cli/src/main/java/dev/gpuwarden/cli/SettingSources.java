package dev.gpuwarden.cli;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/**
 * What gives settings their values besides the command line.
 *
 * @param defaultFile the configuration file that is read if it exists and no other is named
 */
public record SettingSources(Map<String, String> environment, Path defaultFile) {

    /** Names the configuration file where no flag does. */
    static final String FILE_VARIABLE = "GPUWARDEN_CONFIG";

    /** What begins so gives the value of a setting, but for {@link #OTHERS}. */
    static final String PREFIX = "GPUWARDEN_";

    /** What the start scripts and the program read under names of their own. */
    private static final Set<String> OTHERS = Set.of(
            FILE_VARIABLE, "GPUWARDEN_JAVA_OPTS", "GPUWARDEN_DEBUG", "GPUWARDEN_MAVEN_REPOSITORY", "GPUWARDEN_TOOLS");

    /** Whether the environment may give a setting its value. */
    boolean nameSettings() {
        return environment.keySet().stream().anyMatch(name -> name.startsWith(PREFIX) && !OTHERS.contains(name));
    }

    /** Those of this process. */
    static SettingSources ofProcess() {
        return new SettingSources(System.getenv(), Path.of("/etc/gpuwarden/gpuwarden.yaml"));
    }

    /** None, so that a test sees the same on every machine. */
    public static SettingSources none() {
        return new SettingSources(Map.of(), Path.of("/nonexistent/gpuwarden.yaml"));
    }
}
