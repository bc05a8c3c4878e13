package dev.gpuwarden.checks.settings;

import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.access.Isolation;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.Switch;
import dev.gpuwarden.core.check.CheckSet;
import dev.gpuwarden.core.check.GpuLoad;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The sets of checks with a load on GPUs: which of them a daemon runs, and how often. */
public final class CheckSetOptions {

    @Option(
            names = "--check.load",
            defaultValue = "none",
            paramLabel = "LOAD",
            converter = LoadConverter.class,
            description =
                    "Largest load on GPUs of the checks that the daemon runs by itself: none, light (the periodic set:"
                            + " at most 100 ms of a GPU, beside workloads too), or invasive (that set, and the invasive"
                            + " set on GPUs that no pod and no process holds). 'gpuwarden check' runs any check (default: ${DEFAULT-VALUE}).")
    GpuLoad load = GpuLoad.NONE;

    @Bounds(from = "1m", to = "30d")
    @Option(
            names = "--check.periodic-interval",
            defaultValue = "1h",
            paramLabel = "DURATION",
            description = "Interval of the periodic set; --check.interval sets that of one check"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration periodic = Duration.ofHours(1);

    @Bounds(from = "10m", to = "30d")
    @Option(
            names = "--check.invasive-interval",
            defaultValue = "4h",
            paramLabel = "DURATION",
            description = "Interval of the invasive set; --check.interval sets that of one check"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration invasive = Duration.ofHours(4);

    @Option(
            names = "--check.periodic-busy",
            defaultValue = "on",
            paramLabel = "WHETHER",
            description = "Let the daemon run the periodic set on GPUs with a workload too: ${COMPLETION-CANDIDATES}"
                    + " (default: ${DEFAULT-VALUE}).")
    Switch periodicBusy = Switch.on;

    @Option(
            names = "--check.isolation",
            defaultValue = "child",
            paramLabel = "WHERE",
            description =
                    "Process in which the daemon's checks work on GPUs: ${COMPLETION-CANDIDATES}. Its own keeps the GPUs"
                            + " open, so none can be reset. auto is its own until a CUDA context was spoiled, a check crashed, or"
                            + " its memory limit leaves too little (default: ${DEFAULT-VALUE}).")
    Isolation.Mode isolation = Isolation.Mode.child;

    @Option(
            names = "--check.after-boot",
            defaultValue = "on",
            paramLabel = "WHETHER",
            description =
                    "After a boot that ends a fatal fault, or a reset that ends one of a check, keep its part faulty until the"
                            + " checks that the daemon runs have passed: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Switch afterBoot = Switch.on;

    static final class LoadConverter implements ITypeConverter<GpuLoad> {
        @Override
        public GpuLoad convert(String text) {
            return switch (text) {
                case "none" -> GpuLoad.NONE;
                case "light" -> GpuLoad.LIGHT;
                case "invasive" -> GpuLoad.INVASIVE;
                default ->
                    throw new TypeConversionException("expected none, light or invasive, but was '" + text + "'");
            };
        }
    }

    /** Returns the choice of the process in which checks work on GPUs. */
    public Isolation.Mode isolation() {
        return isolation;
    }

    /** Returns whether checks must pass after a boot before a fault ends. */
    public boolean verifiesAfterBoot() {
        return afterBoot.isOn();
    }

    /** Returns the largest load of the checks that a daemon runs by itself. */
    GpuLoad load() {
        return load;
    }

    /** Returns whether the periodic set runs on GPUs with a workload. */
    public boolean periodicOnBusy() {
        return periodicBusy.isOn();
    }

    /** Returns the plan with the intervals of the sets. */
    CheckPlan timed(CheckPlan plan) {
        return plan.every(CheckSet.PERIODIC, periodic).every(CheckSet.INVASIVE, invasive);
    }
}
