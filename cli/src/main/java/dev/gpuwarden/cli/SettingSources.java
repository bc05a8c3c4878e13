package dev.gpuwarden.cli;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

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

    /** What start scripts, simulated drivers, tests and `checks.d` scripts are given under names of their own. */
    private static final Set<String> OTHERS = Set.of(
            FILE_VARIABLE,
            "GPUWARDEN_ACCEPTANCE_COMMAND",
            "GPUWARDEN_DEBUG",
            "GPUWARDEN_JAVA_OPTS",
            "GPUWARDEN_MAVEN_REPOSITORY",
            "GPUWARDEN_PROCFS",
            "GPUWARDEN_RUN",
            "GPUWARDEN_SIM",
            "GPUWARDEN_SIM_NODE",
            "GPUWARDEN_SIM_TRACE",
            "GPUWARDEN_SYSFS",
            "GPUWARDEN_TOOLS");

    /** What Kubernetes gives each container for a Service whose name begins with gpuwarden. */
    private static final Pattern SERVICE = Pattern.compile(
            PREFIX + "(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)");

    /** The variables that are there to give a setting its value, by name. An empty one counts as not set. */
    SortedMap<String, String> variables() {
        SortedMap<String, String> variables = new TreeMap<>();
        environment.forEach((name, value) -> {
            if (name.startsWith(PREFIX) && !OTHERS.contains(name) && !value.isEmpty()) {
                variables.put(name, value);
            }
        });
        return variables;
    }

    /** Whether a name that no setting has may be there without anybody's mistake. */
    static boolean namesService(String variable) {
        return SERVICE.matcher(variable).matches();
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
