package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.client.AccessReviewer;
import dev.gpuwarden.aggregator.client.AccessReviewer.Account;
import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPart;
import dev.gpuwarden.aggregator.janitor.MaintenanceAuditLog.MaintenanceAudit;
import dev.gpuwarden.aggregator.part.ArmedRights;
import dev.gpuwarden.aggregator.part.MetricFamilies;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;

/** Carries out the maintenance resources that repairs and operators make. It acts while repairs are armed. */
public final class JanitorPart implements Part {

    @Mixin
    JanitorOptions options = new JanitorOptions();

    private final Supplier<String> namespace;
    private final DrainPart drain;
    private final BooleanSupplier armed;
    private Optional<JanitorSettings> settings = Optional.empty();
    private NodeProvider provider = NodeProvider.none();
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

    public JanitorOptions options() {
        return options;
    }

    /** Returns the namespace of the Leases that lock nodes. */
    public String lockNamespace() {
        return options.lockNamespace(namespace.get());
    }

    @Override
    public void configure() {
        if (armed.getAsBoolean()) {
            settings = options.settings(namespace.get(), drain.policies().system());
            provider = options.provider();
        }
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
        settings.ifPresent(
                set -> start(replica, set, provider, audit -> replica.audits().write(audit.toTree())));
    }

    public void start(Replica replica, JanitorSettings set, NodeProvider reboots, Consumer<MaintenanceAudit> audits) {
        controller = Optional.of(new JanitorController(replica, set, reboots, audits));
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
