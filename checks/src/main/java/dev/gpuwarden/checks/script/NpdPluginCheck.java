package dev.gpuwarden.checks.script;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.ChildRun.End;
import dev.gpuwarden.checks.child.FileTrust;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.util.FieldReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A check made of one condition's rules, or of one temporary problem, in a custom plugin file of node-problem-detector.
 * Its finding is the worst of its rules. Node-problem-detector shows the rule that ended last.
 */
final class NpdPluginCheck implements HealthCheck {

    private static final List<Outcome> WORST_FIRST = List.of(Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN);

    private static final Duration EVERY = Duration.ofSeconds(30);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int LONGEST_OUTPUT = 80;
    private static final Duration SHORTEST = Duration.ofSeconds(1);

    /**
     * @param permanent whether it is a condition
     * @param healthyReason the file's reason while there is no problem
     */
    record Problem(String name, boolean permanent, String source, String healthyReason, String healthyMessage) {}

    /** @param folder base of a relative path */
    record Rule(String reason, String path, List<String> args, Path folder, Duration timeout, int longestOutput) {}

    private final Problem problem;
    private final List<Rule> rules;
    private final Duration every;
    private final ChildSlots slots;
    private final ScriptLog log = new ScriptLog();

    NpdPluginCheck(Problem problem, List<Rule> rules, Duration every, ChildSlots slots) {
        this.problem = problem;
        this.rules = List.copyOf(rules);
        this.every = every;
        this.slots = slots;
    }

    /** Returns the description. The ID is the condition's type unchanged, so that the Node condition has it again. */
    @Override
    public CheckInfo info() {
        return new CheckInfo(
                problem.name(),
                "NODE",
                "The plugin " + problem.source() + " of node-problem-detector finds no "
                        + (problem.permanent() ? "problem." : problem.name() + "."),
                every,
                1,
                1);
    }

    @Override
    public Duration deadline() {
        return rules.stream().map(rule -> ChildSlots.deadline(rule.timeout())).reduce(Duration.ZERO, Duration::plus);
    }

    @Override
    public List<Finding> run(CheckContext context) {
        Optional<Finding> worst = Optional.empty();
        StringBuilder wrote = new StringBuilder();
        for (Rule rule : rules) {
            Optional<Finding> found = run(rule, wrote);
            if (worst.isEmpty() || found.isPresent() && rank(found.get()) < rank(worst.get())) {
                worst = found;
            }
        }
        String message = problem.healthyMessage().isEmpty() ? "no " + problem.name() : problem.healthyMessage();
        List<Finding> findings = List.of(worst.orElseGet(() -> Finding.pass(
                problem.healthyReason().isEmpty() ? "npd-ok" : problem.healthyReason(), Subject.NODE, message)));
        log.note("check " + problem.name(), findings, wrote.toString());
        return findings;
    }

    private static int rank(Finding finding) {
        return WORST_FIRST.indexOf(finding.outcome());
    }

    /** Runs a rule; empty if there is no problem. */
    private Optional<Finding> run(Rule rule, StringBuilder wrote) {
        Path file = file(rule);
        Optional<String> refused = FileTrust.problem(file);
        if (refused.isPresent()) {
            return Optional.of(unknown(file + " " + refused.get() + "; it does not run"));
        }
        List<String> command = new ArrayList<>(List.of(file.toString()));
        command.addAll(rule.args());
        ChildRun run = slots.run(command, rule.folder(), environment(), rule.timeout());
        wrote.append(run.err());
        String message = CleanText.of(run.out().strip(), rule.longestOutput());
        if (run.end() instanceof End.CutOff cut) {
            return Optional.of(unknown(file + " " + cut.why() + ", and was cut off"));
        }
        if (run.end() instanceof End.NotStarted not) {
            return Optional.of(unknown(file + " could not be started: " + CleanText.of(not.why(), 200)));
        }
        return switch (((End.Exited) run.end()).code()) {
            case 0 -> Optional.empty();
            case 1 -> Optional.of(found(rule, message.isEmpty() ? rule.reason() : message));
            default ->
                Optional.of(unknown(file + " ended with exit code " + ((End.Exited) run.end()).code()
                        + ", which means undecided" + (message.isEmpty() ? "" : ": " + message)));
        };
    }

    private Finding found(Rule rule, String message) {
        // The file has no remedy. An operator must decide it.
        return problem.permanent()
                ? Finding.fail(rule.reason(), Subject.NODE, message, "", RecommendedAction.CONTACT_SUPPORT)
                : Finding.warn(rule.reason(), Subject.NODE, message, "");
    }

    private static Finding unknown(String message) {
        return Finding.unknown(
                ScriptVerdict.BROKEN, Subject.NODE, message, "run the plugin by hand to see its behaviour");
    }

    /** Returns the program's file. A bare name is searched for in PATH, as a shell does. */
    private static Path file(Rule rule) {
        if (!rule.path().contains("/")) {
            for (String folder : ScriptCheck.SEARCH_PATH.split(":")) {
                Path file = Path.of(folder, rule.path());
                if (Files.isExecutable(file)) {
                    return file;
                }
            }
        }
        return rule.folder().resolve(rule.path()).normalize();
    }

    /** Returns the environment. It is inherited like in node-problem-detector, without this program's settings. */
    private static Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.keySet().removeIf(name -> name.startsWith("GPUWARDEN_"));
        environment.putIfAbsent("PATH", ScriptCheck.SEARCH_PATH);
        return environment;
    }

    /** @param taken IDs in use, to which theirs are added */
    static List<HealthCheck> load(Path file, Set<String> taken, ChildSlots slots) {
        NpdConfig config = NpdConfig.read(file, List.of("custom"));
        try {
            FieldReader global = config.json().objectOrEmpty("pluginConfig");
            Duration every = NpdConfig.duration(global, "invoke_interval", EVERY);
            Map<Problem, List<Rule>> rules = new LinkedHashMap<>();
            Map<Problem, Duration> intervals = new LinkedHashMap<>();
            for (FieldReader rule : config.json().objects("rules")) {
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

    private static Problem problem(NpdConfig config, FieldReader rule) throws IOException {
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

    private static Rule rule(NpdConfig config, FieldReader global, FieldReader rule) throws IOException {
        Duration most = NpdConfig.duration(global, "timeout", TIMEOUT);
        Duration own = NpdConfig.duration(rule, "timeout", most);
        if (own.compareTo(most) > 0) {
            throw new IOException("a rule's timeout is longer than that of pluginConfig");
        }
        double length = global.has("max_output_length") ? global.decimal("max_output_length") : LONGEST_OUTPUT;
        int longest = (int) Math.max(1, Math.min(4096, length));
        String path = rule.textOrEmpty("path");
        if (path.isEmpty()) {
            throw new IOException("a rule has no path");
        }
        return new Rule(
                NpdConfig.word(rule, "reason"), path, rule.textList("args"), folder(config.file(), path), own, longest);
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
