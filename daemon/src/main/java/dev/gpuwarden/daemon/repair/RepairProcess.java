package dev.gpuwarden.daemon.repair;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The process in which this program's own commands run for a repair. Names in lower case are those of the setting. */
enum RepairProcess {
    /** A child of the daemon, with its rights. */
    child,
    /** A transient unit of systemd, with all of root's. It survives the daemon, and its name admits one at a time. */
    unit;

    /**
     * Returns the command line.
     *
     * @param name of the unit
     * @param properties of the unit, such as `RuntimeMaxSec=150`
     * @param environment of the daemon, of which a unit gets its settings alone
     */
    List<String> command(String name, List<String> properties, List<String> words, Map<String, String> environment) {
        if (this == child) {
            return words;
        }
        List<String> command =
                new ArrayList<>(List.of("systemd-run", "--quiet", "--wait", "--pipe", "--collect", "--unit=" + name));
        properties.forEach(property -> command.add("--property=" + property));
        environment.forEach((variable, value) -> {
            if (variable.startsWith("GPUWARDEN_") || variable.equals("LD_LIBRARY_PATH")) {
                command.add("--setenv=" + variable + "=" + value);
            }
        });
        command.addAll(words);
        return command;
    }
}
