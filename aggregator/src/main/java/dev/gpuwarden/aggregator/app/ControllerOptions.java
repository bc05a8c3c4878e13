package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.LeaderElector;
import dev.gpuwarden.aggregator.command.BreakerOptions;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.janitor.NodeProvider;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options for quarantine: its mode, its limits and its audit log. */
final class ControllerOptions {

    /** The mode of quarantine, of drains and of repairs. */
    enum Mode {
        /** No decision is made. */
        off,
        dry_run,
        armed;

        @Override
        public String toString() {
            return name().replace('_', '-');
        }
    }

    @Option(
            names = "--quarantine.mode",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description =
                    "Take nodes with faults that meet a QuarantineRuleSet out of service, and return them:"
                            + " ${COMPLETION-CANDIDATES}. A dry run decides and reports, and changes no Node (default: ${DEFAULT-VALUE}).")
    Mode mode = Mode.dry_run;

    /** The switch for actions that the sender of an event forces. */
    enum Force {
        off,
        on
    }

    @Option(
            names = "--quarantine.force",
            defaultValue = "off",
            paramLabel = "SWITCH",
            description = "Let every node pass the breaker if its event has quarantineOverrides.force:"
                    + " ${COMPLETION-CANDIDATES}. Such an event needs no rule (default: ${DEFAULT-VALUE}).")
    Force force = Force.off;

    @Mixin
    DrainOptions drain = new DrainOptions();

    @Mixin
    RemediationOptions remediation = new RemediationOptions();

    @Mixin
    JanitorOptions janitor = new JanitorOptions();

    @Mixin
    BreakerOptions breaker = new BreakerOptions();

    @Option(
            names = "--audit.file",
            paramLabel = "FILE",
            description =
                    "File for each decision with its evidence, as a line of JSON. The record is on the disk before it"
                            + " is carried out. At 64 MiB the file becomes FILE.1, up to FILE.8 (default: standard output).")
    @Nullable Path auditFile;

    /** Returns the settings of quarantine; empty if it is off. Throws {@link UserError} for invalid options. */
    Optional<QuarantineSettings> settings() {
        if (mode == Mode.off) {
            return Optional.empty();
        }
        return Optional.of(new QuarantineSettings(
                breaker.namespace(),
                identity(),
                mode == Mode.armed ? ActionMode.ARMED : ActionMode.DRY_RUN,
                breaker.pools(),
                LeaderElector.Times.DEFAULT,
                force == Force.on));
    }

    /** Returns the settings of drains; empty if nodes are not drained. Throws {@link UserError} for invalid options. */
    Optional<DrainReconciler.Settings> drains() {
        return drain.settings(mode == Mode.armed);
    }

    /** Returns the settings of repairs; empty if nodes are not repaired. Throws {@link UserError} for invalid options. */
    Optional<RepairReconciler.Settings> repairs() {
        return remediation.settings(
                mode == Mode.armed, drain.mode == Mode.armed, janitor.lockNamespace(breaker.namespace()));
    }

    /** Returns the provider of the janitor. Throws {@link UserError} for invalid options. */
    NodeProvider provider() {
        return remediation.mode == Mode.armed ? janitor.provider() : NodeProvider.none();
    }

    /** Returns the settings of the janitor; empty if it does not act. Throws {@link UserError} for invalid options. */
    Optional<JanitorSettings> janitor() {
        return remediation.mode == Mode.armed
                ? janitor.settings(breaker.namespace(), drain.policies().system())
                : Optional.empty();
    }

    /**
     * Returns a new identity. A pod keeps its name when its container restarts, and the Lease may still name the process
     * before.
     */
    private static String identity() {
        String host = System.getenv().getOrDefault("HOSTNAME", "gpuwarden");
        return host + "_" + UUID.randomUUID().toString().substring(0, 8);
    }
}
