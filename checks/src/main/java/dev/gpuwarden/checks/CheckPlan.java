package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckSet;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * The checks to run, their intervals and their deadlines.
 *
 * @param planned sorted by ID
 * @param off checks that the user switched off
 * @param deadline the least deadline of a run; a check that sets a longer one keeps its own
 */
public record CheckPlan(List<Planned> planned, List<CheckInfo> off, Duration deadline) {

    private static final System.Logger LOG = CheckLog.LOG;

    public static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(10);

    /** @param info the check's description, with the user's interval where one is set */
    public record Planned(HealthCheck check, CheckInfo info) {}

    public CheckPlan {
        planned = List.copyOf(planned);
        off = List.copyOf(off);
    }

    /**
     * Returns a plan of every check on the class path, with its own interval. A check that cannot be created is logged
     * and left out.
     */
    public static CheckPlan installed() {
        List<HealthCheck> checks = new ArrayList<>();
        for (ServiceLoader.Provider<HealthCheck> provider :
                ServiceLoader.load(HealthCheck.class).stream().toList()) {
            try {
                checks.add(provider.get());
            } catch (ServiceConfigurationError e) {
                LOG.log(
                        Level.ERROR,
                        "check cannot be created and is left out: "
                                + provider.type().getName(),
                        e);
            }
        }
        return of(checks);
    }

    /** @throws IllegalArgumentException if two checks have the same ID */
    public static CheckPlan of(List<? extends HealthCheck> checks) {
        Map<String, HealthCheck> byId = new HashMap<>();
        List<Planned> planned = new ArrayList<>();
        for (HealthCheck check : checks) {
            CheckInfo info = check.info();
            HealthCheck other = byId.put(info.id(), check);
            if (other != null) {
                throw new IllegalArgumentException("two checks have the ID " + info.id() + ": "
                        + other.getClass().getName() + " and "
                        + check.getClass().getName());
            }
            planned.add(new Planned(check, info));
        }
        planned.sort(Comparator.comparing(plan -> plan.info().id()));
        return new CheckPlan(planned, List.of(), DEFAULT_DEADLINE);
    }

    /** Returns a plan that includes these checks as well, with their own intervals. */
    public CheckPlan and(List<? extends HealthCheck> more) {
        List<HealthCheck> all = new ArrayList<>(more);
        planned.forEach(plan -> all.add(plan.check()));
        return of(all);
    }

    public List<String> ids() {
        return planned.stream().map(plan -> plan.info().id()).toList();
    }

    /** Returns a plan of the checks whose ID passes the filter; the others are switched off. */
    public CheckPlan only(Predicate<String> wanted) {
        return where(plan -> wanted.test(plan.info().id()));
    }

    /** Returns a plan of the checks that put at most this load on GPUs; the others are switched off. */
    public CheckPlan upTo(GpuLoad most) {
        return where(plan -> plan.check().load().compareTo(most) <= 0);
    }

    /** Returns a plan of the checks that put a load on GPUs; the others are switched off. */
    public CheckPlan withLoad() {
        return where(plan -> plan.check().load() != GpuLoad.NONE);
    }

    private CheckPlan where(Predicate<Planned> wanted) {
        List<CheckInfo> unwanted = new ArrayList<>(off);
        List<Planned> rest = new ArrayList<>();
        for (Planned plan : planned) {
            if (wanted.test(plan)) {
                rest.add(plan);
            } else {
                unwanted.add(plan.info());
            }
        }
        return new CheckPlan(rest, unwanted, deadline);
    }

    /** Returns a plan with these intervals, by ID. */
    public CheckPlan every(Map<String, Duration> intervals) {
        return every(
                plan -> intervals.getOrDefault(plan.info().id(), plan.info().every()));
    }

    /** Returns a plan with this interval of all checks of a set. */
    public CheckPlan every(CheckSet set, Duration interval) {
        return every(plan ->
                plan.check().load() == set.load() ? interval : plan.info().every());
    }

    private CheckPlan every(Function<Planned, Duration> interval) {
        List<Planned> changed = planned.stream()
                .map(plan -> new Planned(plan.check(), plan.info().every(interval.apply(plan))))
                .toList();
        return new CheckPlan(changed, off, deadline);
    }

    /** Returns a plan with other checks in place of those with a load on GPUs, which have the same description. */
    public CheckPlan withLoadRunBy(UnaryOperator<HealthCheck> runner) {
        List<Planned> changed = planned.stream()
                .map(plan -> plan.check().load() == GpuLoad.NONE
                        ? plan
                        : new Planned(runner.apply(plan.check()), plan.info()))
                .toList();
        return new CheckPlan(changed, off, deadline);
    }

    public CheckPlan deadline(Duration longest) {
        return new CheckPlan(planned, off, longest);
    }
}
