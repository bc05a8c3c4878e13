package dev.gpuwarden.checks.settings;

import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.NodeBoot;
import dev.gpuwarden.checks.script.ScriptSettings;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.Spelling;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.kernel.RecordRules;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The selection of checks, their intervals, and the values that they compare with. */
public final class CheckOptions {

    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(1);

    @Option(
            names = "--check.only",
            split = ",",
            paramLabel = "ID",
            description = "Run these checks and no others; 'gpuwarden check --list' shows them.")
    List<String> only = List.of();

    @Option(names = "--check.disable", split = ",", paramLabel = "ID", description = "Do not run these checks.")
    List<String> disable = List.of();

    @Option(
            names = "--check.interval",
            split = ",",
            paramLabel = "ID=DURATION",
            description = "Interval of these checks, for example gpu-state=30s.")
    List<String> intervals = List.of();

    @Bounds(from = "1s")
    @Option(
            names = "--check.deadline",
            defaultValue = "10s",
            paramLabel = "DURATION",
            description = "Deadline of a check, unless the check sets a longer one; past it, the result is unknown"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration deadline = CheckPlan.DEFAULT_DEADLINE;

    @Bounds(from = "0s", to = "1d")
    @Option(
            names = "--check.young",
            defaultValue = "10m",
            paramLabel = "DURATION",
            description =
                    "Age of a node, or of a load of its driver, up to which links, ports and drivers that were never"
                            + " seen working may still come (default: ${DEFAULT-VALUE}).")
    Duration young = NodeBoot.YOUNG;

    @Mixin
    CheckSetOptions sets = new CheckSetOptions();

    @Mixin
    LimitOptions limits = new LimitOptions();

    @Mixin
    ExpectSettings expect = new ExpectSettings();

    @Mixin
    ScriptSettings scripts = new ScriptSettings();

    /** Returns the plan of a daemon, which runs checks by itself; throws {@link UserError} if an option is wrong. */
    public CheckPlan daemonPlan(CheckPlan all) {
        return plan(all, sets.load());
    }

    /** Returns the plan of the selected checks with at most this load; throws {@link UserError} if there is none. */
    public CheckPlan plan(CheckPlan all, GpuLoad most) {
        CheckPlan plan = plan(all).upTo(most);
        if (plan.planned().isEmpty()) {
            throw new UserError("--check.only selects only checks with a load on GPUs, which do not run here:"
                    + " run them by 'gpuwarden check NAME', or set --check.load for the daemon");
        }
        return plan;
    }

    /** Returns the settings of the sets of checks with a load on GPUs. */
    public CheckSetOptions sets() {
        return sets;
    }

    /** Returns the deadline of checks, unless a check sets a longer one. */
    public Duration deadline() {
        return deadline;
    }

    /** Returns the age up to which what was never seen working may still come. */
    public Duration young() {
        return young;
    }

    /** @throws UserError if a file of limits is wrong */
    public Limits limits() {
        return limits.limits();
    }

    /** @throws UserError if an expectation is impossible */
    public Expectations expectations() {
        return expect.expectations();
    }

    /** Returns all checks, the class path's and the user's own; throws {@link UserError} if a file of the latter is wrong. */
    public CheckPlan all(String nodeName) {
        CheckPlan installed = CheckPlan.installed();
        return installed.and(scripts.checks(installed.ids(), nodeName));
    }

    /** Returns the user's rules for the kernel log; throws {@link UserError} if a file of them is wrong. */
    public RecordRules logRules() {
        return scripts.logRules();
    }

    /** Returns the plan of the selected checks; throws {@link UserError} if an option is wrong. */
    public CheckPlan plan(CheckPlan all) {
        List<String> ids = all.ids();
        only.forEach(id -> known("--check.only", id, ids));
        disable.forEach(id -> known("--check.disable", id, ids));
        CheckPlan plan = sets.timed(all)
                .every(parsed(ids))
                .only(id -> (only.isEmpty() || only.contains(id)) && !disable.contains(id))
                .deadline(deadline);
        if (plan.planned().isEmpty()) {
            throw new UserError("--check.only and --check.disable leave no check to run");
        }
        return plan;
    }

    private Map<String, Duration> parsed(List<String> ids) {
        Map<String, Duration> parsed = new LinkedHashMap<>();
        for (String interval : intervals) {
            int equals = interval.indexOf('=');
            if (equals < 0) {
                throw new UserError("--check.interval: expected ID=DURATION, but was '" + interval + "'");
            }
            String id = interval.substring(0, equals);
            known("--check.interval", id, ids);
            parsed.put(id, duration(interval.substring(equals + 1), id));
        }
        return parsed;
    }

    private static Duration duration(String text, String id) {
        Duration duration;
        try {
            duration = Durations.parse(text);
        } catch (TypeConversionException e) {
            throw new UserError("--check.interval: " + id + ": " + e.getMessage());
        }
        if (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0) {
            throw new UserError("--check.interval: " + id + ": expected 1s to 1d, but was " + text);
        }
        return duration;
    }

    /** @throws UserError that names the probably intended check */
    public static void known(String option, String id, List<String> ids) {
        if (!ids.contains(id)) {
            throw new UserError((option.isEmpty() ? "" : option + ": ") + "unknown check '" + id + "'"
                    + Spelling.nearest(id, ids)
                            .map(near -> ", did you mean " + near + "?")
                            .orElse("; 'gpuwarden check --list' shows all checks"));
        }
    }
}
