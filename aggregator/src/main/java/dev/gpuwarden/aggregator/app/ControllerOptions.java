package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.LeaderElector;
import dev.gpuwarden.aggregator.command.BreakerOptions;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Whether nodes are taken out of service, and how many at most. */
final class ControllerOptions {

    /** What is done with what is decided. */
    enum Quarantine {
        /** Nothing is decided. */
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
                    "Whether nodes with faults that meet a QuarantineRuleSet are taken out of service, and returned:"
                            + " ${COMPLETION-CANDIDATES}. A dry run decides and tells, and changes no Node (default: ${DEFAULT-VALUE}).")
    Quarantine mode = Quarantine.dry_run;

    /** Whether what a sender forces is done. */
    enum Force {
        off,
        on
    }

    @Option(
            names = "--quarantine.force",
            defaultValue = "off",
            paramLabel = "SWITCH",
            description =
                    "Whether the breaker lets every node pass whose event has quarantineOverrides.force:"
                            + " ${COMPLETION-CANDIDATES}. Such an event needs no rule, whichever it is (default: ${DEFAULT-VALUE}).")
    Force force = Force.off;

    @Mixin
    DrainOptions drain = new DrainOptions();

    @Mixin
    BreakerOptions breaker = new BreakerOptions();

    @Option(
            names = "--audit.file",
            paramLabel = "FILE",
            description =
                    "Where each decision goes with the evidence that it saw, as a line of JSON, on the disk before it"
                            + " is carried out; at 64 MiB it becomes FILE.1, up to FILE.8 (default: standard output).")
    @Nullable Path auditFile;

    /** Empty where quarantine is off. Throws {@link UserError} for what cannot be. */
    Optional<QuarantineSettings> settings() {
        if (mode == Quarantine.off) {
            return Optional.empty();
        }
        return Optional.of(new QuarantineSettings(
                breaker.namespace(),
                identity(),
                mode == Quarantine.armed ? ActionMode.ARMED : ActionMode.DRY_RUN,
                breaker.pools(),
                LeaderElector.Times.DEFAULT,
                force == Force.on));
    }

    /** Empty where nodes are not drained. Throws {@link UserError} for what cannot be. */
    Optional<DrainReconciler.Settings> drains() {
        return drain.settings(mode == Quarantine.armed);
    }

    /** A pod keeps its name when its container starts anew, and the one before may still be thought to lead. */
    private static String identity() {
        String host = System.getenv().getOrDefault("HOSTNAME", "gpuwarden");
        return host + "_" + UUID.randomUUID().toString().substring(0, 8);
    }
}
