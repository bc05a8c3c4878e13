package dev.gpuwarden.cli;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The sources of settings besides the command line.
 *
 * @param defaultFile the configuration file that is read where it exists and no other file is named
 */
public record SettingSources(Map<String, String> environment, Path defaultFile) {

    /** Variable that names the configuration file where no flag does. */
    static final String FILE_VARIABLE = "GPUWARDEN_CONFIG";

    /** Prefix of the variables that give settings their values, except for {@link #OTHERS}. */
    static final String PREFIX = "GPUWARDEN_";

    /**
     * Variables with this prefix that start scripts, simulated drivers, tests and `checks.d` scripts use for other
     * purposes.
     */
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
            "GPUWARDEN_SIM_ROOT",
            "GPUWARDEN_SIM_TRACE",
            "GPUWARDEN_SYSFS",
            "GPUWARDEN_TOOLS");

    /** Variables that Kubernetes sets in each container for a Service whose name begins with gpuwarden. */
    private static final Pattern SERVICE = Pattern.compile(
            PREFIX + "(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)");

    /** Returns the variables that give settings their values, by name. An empty variable counts as not set. */
    SortedMap<String, String> variables() {
        SortedMap<String, String> variables = new TreeMap<>();
        environment.forEach((name, value) -> {
            if (name.startsWith(PREFIX) && !OTHERS.contains(name) && !value.isEmpty()) {
                variables.put(name, value);
            }
        });
        return variables;
    }

    /** Returns whether Kubernetes may have set a variable that matches no setting, so that it is no mistake. */
    static boolean namesService(String variable) {
        return SERVICE.matcher(variable).matches();
    }

    /** Returns the sources of this process. */
    static SettingSources ofProcess() {
        return new SettingSources(System.getenv(), Path.of("/etc/gpuwarden/gpuwarden.yaml"));
    }

    /** Returns no sources, so that a test has the same result on every machine. */
    public static SettingSources none() {
        return new SettingSources(Map.of(), Path.of("/nonexistent/gpuwarden.yaml"));
    }
}
