package dev.gpuwarden.daemon.script;

import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.daemon.script.NpdPluginCheck.Problem;
import dev.gpuwarden.daemon.script.NpdPluginCheck.Rule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A loader of custom plugin files of node-problem-detector as checks. Defaults are its own
 * (custompluginmonitor/types/config.go).
 */
final class NpdPlugins {

    private static final Duration EVERY = Duration.ofSeconds(30);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int LONGEST_OUTPUT = 80;
    private static final Duration SHORTEST = Duration.ofSeconds(1);

    private NpdPlugins() {}

    /** @param taken IDs in use, to which theirs are added */
    static List<HealthCheck> load(Path file, Set<String> taken, ChildSlots slots) {
        NpdConfig config = NpdConfig.read(file, List.of("custom"));
        try {
            JsonTree global = config.json().object("pluginConfig").orElseGet(JsonTree::empty);
            Duration every = NpdConfig.duration(global, "invoke_interval", EVERY);
            Map<Problem, List<Rule>> rules = new LinkedHashMap<>();
            Map<Problem, Duration> intervals = new LinkedHashMap<>();
            for (JsonTree rule : config.json().objects("rules")) {
                Problem problem = problem(config, rule);
                rules.computeIfAbsent(problem, any -> new ArrayList<>()).add(rule(config, global, rule));
                Duration own = NpdConfig.duration(rule, "invoke_interval", every);
                intervals.merge(problem, own, (a, b) -> a.compareTo(b) < 0 ? a : b);
            }
            List<HealthCheck> checks = new ArrayList<>();
            for (Map.Entry<Problem, List<Rule>> entry : rules.entrySet()) {
                Problem problem = entry.getKey();
                if (!taken.add(problem.name())) {
                    throw new IOException("another check has the ID " + problem.name() + " already");
                }
                Duration interval = intervals.getOrDefault(problem, every);
                checks.add(new NpdPluginCheck(
                        problem, entry.getValue(), interval.compareTo(SHORTEST) < 0 ? SHORTEST : interval, slots));
            }
            return checks;
        } catch (IOException e) {
            throw NpdConfig.wrong(file, e);
        }
    }

    private static Problem problem(NpdConfig config, JsonTree rule) throws IOException {
        Optional<String> condition = config.condition(rule);
        if (condition.isEmpty()) {
            return new Problem(NpdConfig.word(rule, "reason"), false, config.source(), "", "");
        }
        NpdConfig.Healthy healthy = config.conditions().getOrDefault(condition.get(), new NpdConfig.Healthy("", ""));
        return new Problem(
                condition.get(),
                true,
                config.source(),
                CleanText.of(healthy.reason(), 100),
                CleanText.of(healthy.message(), 1000));
    }

    private static Rule rule(NpdConfig config, JsonTree global, JsonTree rule) throws IOException {
        Duration most = NpdConfig.duration(global, "timeout", TIMEOUT);
        Duration own = NpdConfig.duration(rule, "timeout", most);
        if (own.compareTo(most) > 0) {
            throw new IOException("a rule's timeout is longer than that of pluginConfig");
        }
        int longest = (int)
                Math.max(1, Math.min(4096, global.number("max_output_length").orElse((double) LONGEST_OUTPUT)));
        String path = rule.text("path").orElse("");
        if (path.isEmpty()) {
            throw new IOException("a rule has no path");
        }
        return new Rule(
                NpdConfig.word(rule, "reason"), path, rule.texts("args"), folder(config.file(), path), own, longest);
    }

    /**
     * Returns the base of a relative path. node-problem-detector is started in the folder above that of its
     * configuration: config/custom-plugin-monitor.json contains "./config/plugin/check_ntp.sh".
     */
    private static Path folder(Path config, String path) {
        Path own = config.toAbsolutePath().normalize().getParent();
        Path root = Path.of("/");
        if (own == null || path.startsWith("/")) {
            return root;
        }
        Path above = own.getParent();
        return above != null && Files.exists(above.resolve(path)) && !Files.exists(own.resolve(path)) ? above : own;
    }
}
