package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.drain.ManualDrain;
import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Identifiers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.Option;

/** The options for the pods that an operator's drain evicts, with kubectl's names where the meaning is the same. */
final class ManualDrainOptions {

    private static final Pattern UUID = Pattern.compile("(?i)GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final SystemNamespaces NONE = SystemNamespaces.of("(?!)");
    /** The age from which a pod that is not ready stays: never, because the operator can handle those that never answer. */
    private static final Duration NEVER = Duration.ofDays(36_500);

    private static final int PODS_OWN = -1;

    /** The treatment of pods that hold a GPU by a process alone. */
    enum Processes {
        leave,
        evict
    }

    @Option(
            names = "--gpu",
            split = ",",
            paramLabel = "UUID",
            description = "Only pods that hold this GPU, or a part of it, or a GPU that can only be reset together with"
                    + " it. May be given more than once.")
    List<String> gpus = List.of();

    @Option(
            names = "--processes",
            defaultValue = "leave",
            paramLabel = "SWITCH",
            description = "Pods whose processes have a GPU of --gpu open without a request: ${COMPLETION-CANDIDATES}."
                    + " leave lists them and leaves them to you (default: ${DEFAULT-VALUE}).")
    Processes processes = Processes.leave;

    @Option(
            names = "--grace-period",
            paramLabel = "SECONDS",
            description = "The time that containers have to end, in seconds; -1 for each pod's own (default: -1).")
    int graceSeconds = PODS_OWN;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            description = "The longest wait for the whole drain, for example 10m; 0s for no limit (default: 0s).")
    Duration timeout = Duration.ZERO;

    @Option(
            names = "--notice",
            paramLabel = "DURATION",
            description =
                    "The longest time that a pod gets to save its work, if it requests a signal before its end, as"
                            + " 5m; 0s for no signals (default: 0s).")
    Duration notice = Duration.ZERO;

    @Option(names = "--delete-emptydir-data", description = "Evict pods too that lose files by it.")
    boolean emptyDir;

    @Option(names = "--force", description = "Evict pods too that no controller starts again.")
    boolean unmanaged;

    @Option(names = "--ignore-daemonsets", description = "For compatibility: pods of DaemonSets stay in any case.")
    boolean ignoreDaemonSets;

    @Option(
            names = "--system-namespaces",
            paramLabel = "PATTERN",
            description = "Namespaces whose pods stay (default: " + SystemNamespaces.USUAL + ").")
    String system = SystemNamespaces.USUAL;

    /** Returns the UUIDs in the driver's notation. Throws {@link UserError} if one is no UUID. */
    Set<String> gpus(String node) {
        Set<String> uuids = new TreeSet<>();
        for (String gpu : gpus) {
            if (!UUID.matcher(Identifiers.gpu(gpu)).matches()) {
                throw new UserError("--gpu: expected a UUID as GPU-455d8f70-2051-db6c-0430-ffc457bff834, found \"" + gpu
                        + "\". The cluster has no GPU indices; gpuwarden explain " + node
                        + " names those with faults, nvidia-smi -L on the node all of them");
            }
            uuids.add(Identifiers.gpu(gpu));
        }
        return uuids;
    }

    void validate() {
        if (graceSeconds == 0 || graceSeconds < PODS_OWN) {
            throw new UserError("--grace-period: expected at least 1 second, or -1, found " + graceSeconds
                    + ". With 0 pods would be gone for Kubernetes while their containers may run");
        }
    }

    /** @param unasked the reason why no request is sent to the node's daemon; empty if one is */
    ManualDrain.Settings settings(Set<String> uuids, Optional<String> unasked, boolean dryRun) {
        Optional<Duration> grace =
                graceSeconds == PODS_OWN ? Optional.empty() : Optional.of(Duration.ofSeconds(graceSeconds));
        return new ManualDrain.Settings(
                uuids,
                unasked,
                processes == Processes.evict,
                policies(grace),
                grace,
                timeout.isZero() ? Optional.empty() : Optional.of(timeout),
                dryRun);
    }

    private DrainPolicies policies(Optional<Duration> grace) {
        DrainPolicies.NamespaceRule all =
                new DrainPolicies.NamespaceRule(new DrainPolicies.Glob("*"), DrainMode.IMMEDIATE);
        return new DrainPolicies(
                List.of(), List.of(all), systems(), grace, Duration.ZERO, NEVER, notice, emptyDir, unmanaged);
    }

    private SystemNamespaces systems() {
        try {
            return system.isEmpty() ? NONE : SystemNamespaces.of(system);
        } catch (PatternSyntaxException e) {
            throw new UserError("--system-namespaces: " + e.getMessage());
        }
    }
}
