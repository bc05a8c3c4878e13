package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.part.Mode;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for repairs of drained nodes. */
public final class RemediationOptions {

    private static final int MOST_ATTEMPTS = 10;

    /** The switch for the approval of each action. */
    enum Approval {
        automatic,
        manual
    }

    @Option(
            names = "--remediation.mode",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description =
                    "Repair drained nodes by a GPUReset or a RebootNode: ${COMPLETION-CANDIDATES}. A dry run decides"
                            + " and reports, and makes no object; armed needs --drain.mode=armed (default:"
                            + " ${DEFAULT-VALUE}).")
    Mode mode = Mode.dry_run;

    @Option(
            names = "--remediation.approval",
            defaultValue = "automatic",
            paramLabel = "SWITCH",
            description = "Stop before each action until gpuwarden approve NODE, or not:"
                    + " ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Approval approval = Approval.automatic;

    @Option(
            names = "--remediation.attempts",
            defaultValue = "2",
            paramLabel = "NUMBER",
            description = "Resets of one GPU within --remediation.memory before a reboot, and reboots for one GPU"
                    + " before the node waits for a person. A failure counts as the last attempt"
                    + " (default: ${DEFAULT-VALUE}).")
    int attempts = 2;

    @Option(
            names = "--remediation.memory",
            defaultValue = "168h",
            paramLabel = "DURATION",
            description = "Time for which earlier repairs of a GPU count (default: ${DEFAULT-VALUE}).")
    Duration memory = Duration.ofDays(7);

    @Option(
            names = "--remediation.settle",
            defaultValue = "5m",
            paramLabel = "DURATION",
            description = "Time that a node has after a repair to report that the fault is over"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration settle = Duration.ofMinutes(5);

    @Option(
            names = "--remediation.templates",
            paramLabel = "FILE",
            description = "YAML file with resources of other kinds, as a Job or a ticket, to make for recommended"
                    + " actions (default: none; then such a node waits for a person).")
    @Nullable Path templates;

    /**
     * Returns the settings of repairs; empty if no decision is made. Throws {@link UserError} for invalid options.
     *
     * @param quarantineArmed true if nodes are taken out of service
     * @param drainArmed true if nodes in quarantine are drained
     * @param lockNamespace namespace of the Leases that lock nodes
     */
    Optional<RepairReconciler.Settings> settings(boolean quarantineArmed, boolean drainArmed, String lockNamespace) {
        if (mode == Mode.off) {
            return Optional.empty();
        }
        if (attempts < 1 || attempts > MOST_ATTEMPTS) {
            throw new UserError("--remediation.attempts must be 1 to " + MOST_ATTEMPTS + ", but was " + attempts);
        }
        positive("--remediation.memory", memory);
        positive("--remediation.settle", settle);
        RepairTemplates own = templates == null ? RepairTemplates.NONE : TemplateFile.read(templates);
        if (mode == Mode.armed && !drainArmed) {
            throw new UserError("--remediation.mode=armed needs --drain.mode=armed: only drained nodes are repaired");
        }
        // Without quarantine no Node is marked as quarantined, and there is nothing to decide.
        return quarantineArmed ? Optional.of(settings(mode == Mode.armed, own, lockNamespace)) : Optional.empty();
    }

    /** Returns the mode as the options state it. */
    public Mode mode() {
        return mode;
    }

    /** Returns the file with users' own ways of repair; empty without one. */
    public Optional<Path> templates() {
        return Optional.ofNullable(templates);
    }

    /**
     * Returns the settings of repairs that are armed.
     *
     * @param own users' own ways of repair
     * @param lockNamespace namespace of the Leases that lock nodes
     */
    public RepairReconciler.Settings armed(RepairTemplates own, String lockNamespace) {
        return settings(true, own, lockNamespace);
    }

    private RepairReconciler.Settings settings(boolean armed, RepairTemplates own, String lockNamespace) {
        return new RepairReconciler.Settings(
                armed, approval == Approval.manual, attempts, memory, settle, own, lockNamespace);
    }

    private static void positive(String option, Duration time) {
        if (time.isNegative() || time.isZero()) {
            throw new UserError(option + " must be above 0, but was " + Durations.text(time));
        }
    }
}
