package dev.gpuwarden.cli;

import java.nio.file.Path;
import java.util.Map;

/**
 * What gives settings their values besides the command line.
 *
 * @param defaultFile the configuration file that is read if it exists and no other is named
 */
public record SettingSources(Map<String, String> environment, Path defaultFile) {

    /** Names the configuration file where no flag does. */
    static final String FILE_VARIABLE = "GPUWARDEN_CONFIG";

    /** Those of this process. */
    static SettingSources ofProcess() {
        return new SettingSources(System.getenv(), Path.of("/etc/gpuwarden/gpuwarden.yaml"));
    }

    /** None, so that a test sees the same on every machine. */
    public static SettingSources none() {
        return new SettingSources(Map.of(), Path.of("/nonexistent/gpuwarden.yaml"));
    }
}
