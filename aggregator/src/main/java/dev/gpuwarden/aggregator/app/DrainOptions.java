package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.app.ControllerOptions.Force;
import dev.gpuwarden.aggregator.app.ControllerOptions.Mode;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainTimes;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for drains of nodes in quarantine. */
final class DrainOptions {

    @Option(
            names = "--drain.mode",
            defaultValue = "dry-run",
            paramLabel = "MODE",
            description = "Drain nodes in quarantine: ${COMPLETION-CANDIDATES}. A dry run decides and"
                    + " reports, and changes no pod; armed needs --quarantine.mode=armed (default: ${DEFAULT-VALUE}).")
    Mode mode = Mode.dry_run;

    @Option(
            names = "--drain.namespaces",
            split = ",",
            defaultValue = "*=AllowCompletion",
            paramLabel = "RULE",
            description = "Rules for pods by namespace: NAMESPACE=MODE, where a mode is Immediate,"
                    + " DeleteAfterTimeout or AllowCompletion. If several rules match, the first of these modes"
                    + " applies; pods that no rule matches stay (default: ${DEFAULT-VALUE}).")
    List<String> namespaces = new ArrayList<>(List.of("*=AllowCompletion"));

    @Option(
            names = "--drain.pods",
            split = ",",
            paramLabel = "RULE",
            description = "Rules for pods by label, before those by namespace: SELECTOR;MODE or"
                    + " SELECTOR;MODE;NAMESPACE. The first rule that matches applies.")
    List<String> pods = new ArrayList<>();

    @Option(
            names = "--drain.system-namespaces",
            defaultValue = SystemNamespaces.USUAL,
            paramLabel = "PATTERN",
            description = "Namespaces whose pods stay: a regular expression (default: ${DEFAULT-VALUE}).")
    String system = SystemNamespaces.USUAL;

    @Option(
            names = "--drain.grace",
            paramLabel = "DURATION",
            description =
                    "Time that containers have to end before they are killed (default: the grace period of each pod).")
    @Nullable Duration grace;

    @Option(
            names = "--drain.timeout",
            defaultValue = "60m",
            paramLabel = "DURATION",
            description =
                    "Time that DeleteAfterTimeout waits, from the beginning of the drain (default: ${DEFAULT-VALUE}).")
    Duration timeout = Duration.ofMinutes(60);

    @Option(
            names = "--drain.not-ready",
            defaultValue = "5m",
            paramLabel = "DURATION",
            description =
                    "Pods that have not been ready for this long do not block the drain (default: ${DEFAULT-VALUE}).")
    Duration notReady = Duration.ofMinutes(5);

    @Option(
            names = "--drain.notice",
            defaultValue = "1h",
            paramLabel = "DURATION",
            description = "Longest time for a pod to save its work, if it requests a signal before its end"
                    + " (gpuwarden.dev/checkpoint-signal and -grace); 0 for no signals (default: ${DEFAULT-VALUE}).")
    Duration notice = Duration.ofHours(1);

    @Option(
            names = "--drain.force",
            defaultValue = "off",
            paramLabel = "SWITCH",
            description = "Remove all pods immediately, whatever these rules state, for an event that has"
                    + " drainOverrides.force: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Force force = Force.off;

    @Option(
            names = "--drain.processes",
            defaultValue = "leave",
            paramLabel = "SWITCH",
            description = "Pods whose processes hold a GPU of the drain without a request, for example by"
                    + " NVIDIA_VISIBLE_DEVICES or hostPath: ${COMPLETION-CANDIDATES}. A reset fails while they hold it"
                    + " (default: ${DEFAULT-VALUE}).")
    Processes processes = Processes.leave;

    /** The treatment of pods that hold a GPU by a process alone. */
    enum Processes {
        leave,
        evict
    }

    @Option(names = "--drain.empty-dir", description = "Remove pods with an emptyDir too. Its content is lost.")
    boolean emptyDir;

    @Option(names = "--drain.unmanaged", description = "Remove pods too that no controller starts again elsewhere.")
    boolean unmanaged;

    /**
     * Returns the settings of drains; empty if no decision is made. Throws {@link UserError} for invalid options.
     *
     * @param quarantineArmed true if nodes are taken out of service
     */
    Optional<DrainReconciler.Settings> settings(boolean quarantineArmed) {
        if (mode == Mode.off) {
            return Optional.empty();
        }
        DrainPolicies policies = policies();
        if (mode == Mode.armed && !quarantineArmed) {
            throw new UserError(
                    "--drain.mode=armed needs --quarantine.mode=armed: only nodes in quarantine are drained");
        }
        // Without quarantine no Node is marked as quarantined, and there is nothing to decide.
        return quarantineArmed
                ? Optional.of(new DrainReconciler.Settings(
                        mode == Mode.armed,
                        policies,
                        DrainTimes.DEFAULT,
                        force == Force.on,
                        processes == Processes.evict))
                : Optional.empty();
    }

    DrainPolicies policies() {
        if (grace != null && (grace.isNegative() || grace.compareTo(Duration.ofHours(24)) > 0)) {
            throw new UserError("--drain.grace must be at most 24h, but was " + Durations.text(grace));
        }
        return new DrainPolicies(
                read("--drain.pods", () -> DrainPolicies.Parser.pods(pods)),
                read(
                        "--drain.namespaces",
                        () -> namespaces.stream()
                                .map(String::strip)
                                .map(DrainPolicies.Parser::namespace)
                                .toList()),
                read("--drain.system-namespaces", () -> namespaces(system)),
                Optional.ofNullable(grace),
                timeout,
                notReady,
                notice,
                emptyDir,
                unmanaged);
    }

    private static SystemNamespaces namespaces(String text) {
        try {
            return SystemNamespaces.of(text);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException("expected a regular expression: " + e.getMessage(), e);
        }
    }

    private static <T> T read(String option, java.util.function.Supplier<T> text) {
        try {
            return text.get();
        } catch (IllegalArgumentException e) {
            throw new UserError(option + ": " + e.getMessage());
        }
    }
}
