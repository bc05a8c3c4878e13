package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.client.AccessReviewer;
import dev.gpuwarden.aggregator.client.AccessReviewer.Account;
import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPart;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.JanitorTimes;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.part.ArmedRights;
import dev.gpuwarden.aggregator.part.AuditLog;
import dev.gpuwarden.aggregator.part.MetricFamilies;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import dev.gpuwarden.aggregator.provider.ProviderOptions;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.UserError;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Carries out the maintenance resources that repairs and operators make. It acts while repairs are armed. */
public final class JanitorPart implements Part {

    /** The image of Jobs that are validated and never run. */
    private static final String ASSUMED_IMAGE = "gpuwarden";

    /** The way in which nodes are rebooted. */
    enum Reboot {
        job,
        external,
        command,
        provider
    }

    @Option(
            names = "--janitor.image",
            paramLabel = "IMAGE",
            description = "Image of gpuwarden for the Jobs that reset GPUs and reboot nodes. It acts with"
                    + " --remediation.mode=armed (default: none: another program carries out the resources).")
    @Nullable String image;

    @Option(
            names = "--janitor.lock-namespace",
            paramLabel = "NAMESPACE",
            description = "Namespace of the Leases that lock nodes during maintenance. The one of NVSentinel's janitor"
                    + " makes both wait for each other (default: the aggregator's).")
    @Nullable String lockNamespace;

    @Option(
            names = "--janitor.reboot",
            defaultValue = "job",
            paramLabel = "PROVIDER",
            description = "Way to reboot a node: ${COMPLETION-CANDIDATES}. A Job requests it from the node's systemd;"
                    + " external waits for another program; command runs the program of --janitor.command;"
                    + " provider asks the service of --janitor.provider. The last two also terminate nodes"
                    + " (default: ${DEFAULT-VALUE}).")
    Reboot reboot = Reboot.job;

    @Bounds(from = "1ms")
    @Option(
            names = "--janitor.keep",
            defaultValue = "336h",
            paramLabel = "DURATION",
            description = "Time for which completed maintenance resources are kept (default: ${DEFAULT-VALUE}).")
    Duration keep = Duration.ofDays(14);

    @Mixin
    NodeCommandOptions command = new NodeCommandOptions();

    @Mixin
    ProviderOptions provider = new ProviderOptions();

    @Bounds(from = "10s", to = "7d")
    @Option(
            names = "--janitor.teardown-timeout",
            defaultValue = "5m",
            paramLabel = "DURATION",
            description =
                    "Longest wait for the GPU Operator's pods to end before a reset" + " (default: ${DEFAULT-VALUE}).")
    Duration teardownTimeout = JanitorTimes.DEFAULT.teardown();

    @Bounds(from = "10s", to = "7d")
    @Option(
            names = "--janitor.job-timeout",
            defaultValue = "10m",
            paramLabel = "DURATION",
            description = "Longest run of a Job. The reset itself may take 5m, and its checks and the"
                    + " evidence of a failure some minutes more (default: ${DEFAULT-VALUE}).")
    Duration jobTimeout = JanitorTimes.DEFAULT.job();

    @Bounds(from = "10s", to = "7d")
    @Option(
            names = "--janitor.restore-timeout",
            defaultValue = "10m",
            paramLabel = "DURATION",
            description = "Longest wait for the GPU Operator's pods to be ready again after a reset"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration restoreTimeout = JanitorTimes.DEFAULT.restore();

    @Bounds(from = "10s", to = "7d")
    @Option(
            names = "--janitor.reboot-timeout",
            defaultValue = "30m",
            paramLabel = "DURATION",
            description =
                    "Longest time from the signal of a reboot to the ready Node" + " (default: ${DEFAULT-VALUE}).")
    Duration rebootTimeout = JanitorTimes.DEFAULT.reboot();

    @Bounds(from = "10s", to = "7d")
    @Option(
            names = "--janitor.terminate-timeout",
            defaultValue = "24h",
            paramLabel = "DURATION",
            description = "Longest wait for another program to remove the Node of a TerminateNode"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration terminateTimeout = JanitorTimes.DEFAULT.terminate();

    private final Supplier<String> namespace;
    private final DrainPart drain;
    private final BooleanSupplier armed;
    private Optional<JanitorSettings> settings = Optional.empty();
    private NodeProvider reboots = NodeProvider.none();
    private Optional<JanitorController> controller = Optional.empty();

    /**
     * @param namespace namespace of this program
     * @param drain has the namespaces whose pods stay
     * @param armed true if repairs are armed
     */
    public JanitorPart(Supplier<String> namespace, DrainPart drain, BooleanSupplier armed) {
        this.namespace = namespace;
        this.drain = drain;
        this.armed = armed;
    }

    /** Returns the namespace of the Leases that lock nodes. */
    public String lockNamespace() {
        return lockNamespace(namespace.get());
    }

    @Override
    public void configure() {
        if (armed.getAsBoolean()) {
            settings = settings(namespace.get());
            reboots = provider.provider(reboot == Reboot.provider);
        }
    }

    /**
     * Returns the settings; empty without an image. Throws {@link UserError} for invalid options.
     *
     * @param ofJobs namespace of the aggregator, in which the Jobs run
     */
    public Optional<JanitorSettings> settings(String ofJobs) {
        return image == null || image.isBlank() ? Optional.empty() : Optional.of(settings(image, ofJobs));
    }

    /** Returns the settings. If the options have no image, that of Jobs which never run is assumed. */
    public JanitorSettings assumed(String ofJobs) {
        return settings(image == null ? ASSUMED_IMAGE : image, ofJobs);
    }

    private JanitorSettings settings(String used, String ofJobs) {
        var unused = provider.address(reboot == Reboot.provider);
        return new JanitorSettings(
                ofJobs,
                lockNamespace(ofJobs),
                used,
                RebootProvider.valueOf(reboot.name().toUpperCase(Locale.ROOT)),
                command.command(reboot == Reboot.command),
                drain.policies().system(),
                times());
    }

    private JanitorTimes times() {
        return new JanitorTimes(
                teardownTimeout,
                jobTimeout,
                restoreTimeout,
                rebootTimeout,
                terminateTimeout,
                keep,
                JanitorTimes.DEFAULT.poll());
    }

    /** @param namespace namespace of the aggregator */
    public String lockNamespace(String namespace) {
        return lockNamespace == null ? namespace : lockNamespace;
    }

    @Override
    public List<? extends Need> needs() {
        return settings.map(JanitorPart::withJobs).orElse(List.of());
    }

    /** Returns the rights of a janitor with these settings. */
    public static List<Need.Rights> needs(JanitorSettings set) {
        String setting = setting(set);
        String other = "no --janitor.image";
        return List.of(
                ArmedRights.need(setting, "janitor", set.namespace(), other),
                ArmedRights.need(setting, "janitor-locks", set.lockNamespace(), other));
    }

    /** Returns these rights, and those of the Jobs. */
    public static List<? extends Need> withJobs(JanitorSettings set) {
        List<Need> needs = new ArrayList<>(needs(set));
        needs.add(api -> ofJobs(api, set));
        return needs;
    }

    private static String setting(JanitorSettings set) {
        return "--janitor.image=" + set.image();
    }

    /** Returns what the Jobs of the janitor lack. Without it each of them would refuse to act. */
    private static List<String> ofJobs(KubeClient api, JanitorSettings set) throws ApiException, InterruptedException {
        Account jobs = new Account(set.namespace(), JanitorSettings.JOB_ACCOUNT);
        List<Right> missing =
                new AccessReviewer(api, Optional.of(jobs)).missing(ArmedRights.of("janitor-jobs", set.lockNamespace()));
        Optional<String> account = account(api, jobs);
        return account.isEmpty() && missing.isEmpty()
                ? List.of()
                : List.of(setting(set) + " needs the ServiceAccount " + jobs.name() + " in "
                        + jobs.namespace() + ", with which each Job tests again just before it acts: "
                        + account.orElseGet(() -> "it lacks the rights " + AccessReviewer.text(missing))
                        + ". Apply the manifests with " + ArmedRights.source("janitor-jobs", set.lockNamespace())
                        + ", or start with no --janitor.image");
    }

    /** Returns the reason why pods cannot run with a ServiceAccount; empty if they can. */
    private static Optional<String> account(KubeClient api, Account account) throws ApiException, InterruptedException {
        try {
            return api.find("/api/v1/namespaces/" + account.namespace() + "/serviceaccounts/" + account.name())
                            .isPresent()
                    ? Optional.empty()
                    : Optional.of("there is none");
        } catch (ApiException e) {
            if (!e.forbidden()) {
                throw e;
            }
            return Optional.of("this ServiceAccount may not read it");
        }
    }

    @Override
    public void start(Replica replica) {
        settings.ifPresent(set -> start(replica, set, reboots, replica.audits()::write));
    }

    public void start(Replica replica, JanitorSettings set, NodeProvider machines, Consumer<AuditLog.Entry> audits) {
        controller = Optional.of(new JanitorController(replica, set, machines, audits));
    }

    /** Returns the controller; empty if another program carries out the resources. */
    public Optional<JanitorController> controller() {
        return controller;
    }

    @Override
    public String mode() {
        return "janitor: " + settings.map(set -> "Jobs of " + set.image()).orElse("off");
    }

    /** Adds the maintenance of nodes. Ended resources count for as long as they are kept. */
    @Override
    public void addMetrics(MetricFamilies all) {
        controller.ifPresent(each -> {
            MaintenanceCache resources = each.resources();
            Janitor janitor = each.janitor();
            all.gauge(
                    "gpuwarden_aggregator_maintenance_in_progress", "kind", resources.inProgress(), Long::doubleValue);
            all.counter(
                    "gpuwarden_aggregator_maintenance_completed",
                    "result",
                    janitor.metrics().completed.sums());
            all.gauge("gpuwarden_aggregator_maintenance_services_not_restored", resources.servicesNotRestored());
            all.gauge("gpuwarden_aggregator_maintenance_left_to_others", janitor.foreign());
        });
    }
}
