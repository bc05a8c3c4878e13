package dev.gpuwarden.checks.script;

import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.RecordRules;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** The locations of the users' own checks. */
public final class ScriptSettings {

    @Option(
            names = "--check.scripts",
            defaultValue = "/etc/gpuwarden/checks.d",
            paramLabel = "DIR",
            description = "Folder of scripts; each is a check (default: ${DEFAULT-VALUE}).")
    Path scripts = Path.of("/etc/gpuwarden/checks.d");

    @Option(
            names = "--npd.plugin",
            split = ",",
            paramLabel = "FILE",
            description = "Custom plugin files of node-problem-detector, run unchanged; may be repeated.")
    List<Path> plugins = List.of();

    @Option(
            names = "--npd.log-monitor",
            split = ",",
            paramLabel = "FILE",
            description = "System log monitor files of node-problem-detector, matched unchanged with the kernel log;"
                    + " may be repeated.")
    List<Path> logMonitors = List.of();

    /**
     * Returns every script and plugin as a check.
     *
     * @param taken IDs of the checks that exist without them
     * @throws dev.gpuwarden.cli.UserError if a file of node-problem-detector is invalid
     */
    public List<HealthCheck> checks(Collection<String> taken, String nodeName) {
        ChildSlots slots = new ChildSlots();
        Set<String> ids = new HashSet<>(taken);
        List<HealthCheck> checks = new ArrayList<>();
        for (Path plugin : plugins) {
            checks.addAll(NpdPluginCheck.load(plugin, ids, slots));
        }
        checks.addAll(ScriptCheck.load(scripts, ids, nodeName, slots));
        return List.copyOf(checks);
    }

    /** Returns every rule for the kernel log; throws {@link dev.gpuwarden.cli.UserError} if a file is invalid. */
    public RecordRules logRules() {
        List<NpdLogRules> files = logMonitors.stream().map(NpdLogRules::read).toList();
        return files.isEmpty() ? RecordRules.NONE : new AllRules(files);
    }

    private record AllRules(List<? extends RecordRules> files) implements RecordRules {
        @Override
        public List<Found> match(KernelRecord record) {
            List<Found> found = new ArrayList<>(0);
            for (RecordRules file : files) {
                found.addAll(file.match(record));
            }
            return found;
        }

        @Override
        public Set<String> checks() {
            Set<String> all = new HashSet<>();
            files.forEach(file -> all.addAll(file.checks()));
            return all;
        }
    }
}
