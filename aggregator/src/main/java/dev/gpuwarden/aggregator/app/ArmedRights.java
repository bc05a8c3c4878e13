package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.AccessReviewer;
import dev.gpuwarden.aggregator.client.AccessReviewer.Account;
import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.aggregator.rehearsal.PipelineSettings;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.aggregator.remediation.TemplateDiscovery;
import dev.gpuwarden.aggregator.vram.VramSettings;
import dev.gpuwarden.cli.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The check of the rights that an armed aggregator needs beyond those of a dry run. The manifests grant them with the component
 * that arms it. The kinds of users' templates must exist too. The check runs once, at the start; otherwise the first action on each node would fail.
 */
public final class ArmedRights {

    private static final System.Logger LOG = System.getLogger(ArmedRights.class.getName());

    private static final List<Right> QUARANTINE =
            List.of(new Right("patch", "", "nodes"), new Right("patch", "", "nodes/status"));
    private static final Right EVENTS = new Right("create", "", "events");
    private static final List<Right> ADVERTISE = List.of(new Right("patch", "", "nodes/status"), EVENTS);
    private static final List<Right> BUDGETS = List.of(
            new Right("list", "", "nodes"),
            new Right("watch", "", "nodes"),
            new Right("list", "", "pods"),
            new Right("watch", "", "pods"));
    private static final Right EVICT = new Right("create", "", "pods/eviction");
    private static final List<Right> REPAIR = List.of(
            new Right("create", MaintenanceKind.GROUP, "gpuresets"),
            new Right("create", MaintenanceKind.GROUP, "rebootnodes"));
    private static final Right DELETE = new Right("delete", "", "pods");

    /**
     * The rights of a setting.
     *
     * @param source the manifests that grant them
     * @param other the setting that needs none of them
     */
    private record Need(String setting, List<Right> rights, String source, String other) {
        static Need armed(String what, List<Right> rights) {
            return new Need(
                    "--" + what + ".mode=armed", rights, component(what + "-armed"), "--" + what + ".mode=dry-run");
        }

        static String component(String name) {
            return "their component components/" + name;
        }

        String text(List<Right> missing) {
            return setting + " needs rights that this ServiceAccount does not have: " + AccessReviewer.text(missing)
                    + ". Apply the manifests with " + source + ", or start with " + other;
        }
    }

    private ArmedRights() {}

    /**
     * Checks that this program has the rights. Throws {@link UserError} with all that are missing. Blocks for the API server's
     * answers. Without an answer it logs a warning and throws nothing.
     */
    public static void check(
            KubeClient api,
            Optional<QuarantineSettings> quarantine,
            Optional<DrainReconciler.Settings> drains,
            Optional<RepairReconciler.Settings> repairs,
            Optional<JanitorSettings> maintenance,
            Optional<VramSettings> vram)
            throws InterruptedException {
        AccessReviewer rights = new AccessReviewer(api);
        List<Need> needs = new ArrayList<>();
        if (quarantine.filter(set -> set.mode() == ActionMode.ARMED).isPresent()) {
            needs.add(Need.armed("quarantine", QUARANTINE));
        }
        drains.filter(DrainReconciler.Settings::armed).ifPresent(set -> needs.addAll(ofDrain(set.policies())));
        repairs.filter(RepairReconciler.Settings::armed).ifPresent(set -> {
            needs.add(Need.armed("remediation", REPAIR));
            needs.addAll(ofTemplates(set));
        });
        maintenance.ifPresent(set -> needs.addAll(ofJanitorImage(set)));
        vram.ifPresent(set -> needs.addAll(ofVram(set)));
        try {
            List<String> missing = missing(rights, needs);
            if (repairs.filter(RepairReconciler.Settings::armed).isPresent()) {
                missing.addAll(TemplateDiscovery.wrong(api, repairs.get().templates()));
            }
            if (maintenance.isPresent()) {
                missing.addAll(ofJobs(api, maintenance.get()));
            }
            if (!missing.isEmpty()) {
                throw new UserError(String.join("\n", missing));
            }
            if (vram.isPresent()) {
                missing(rights, List.of(ofBudgets("--vram.evictions=dry-run")))
                        .forEach(text -> LOG.log(System.Logger.Level.WARNING, text));
            }
        } catch (ApiException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cannot read the rights of this program from the API server: " + e.getMessage());
        }
    }

    /** Returns what the Jobs of the janitor lack. Without it each of them would refuse to act. */
    private static List<String> ofJobs(KubeClient api, JanitorSettings set) throws ApiException, InterruptedException {
        Account jobs = new Account(set.namespace(), JanitorSettings.JOB_ACCOUNT);
        List<Right> needed = new ArrayList<>(List.of(new Right("get", "", "nodes")));
        for (MaintenanceKind kind : MaintenanceKind.values()) {
            needed.add(new Right("get", MaintenanceKind.GROUP, kind.resources().plural()));
        }
        needed.add(new Right("get", "coordination.k8s.io", "leases", set.lockNamespace()));
        List<Right> missing = new AccessReviewer(api, Optional.of(jobs)).missing(needed);
        Optional<String> account = account(api, jobs);
        return account.isEmpty() && missing.isEmpty()
                ? List.of()
                : List.of("--janitor.image=" + set.image() + " needs the ServiceAccount " + jobs.name() + " in "
                        + jobs.namespace() + ", with which each Job tests again just before it acts: "
                        + account.orElseGet(() -> "it lacks the rights " + AccessReviewer.text(missing))
                        + ". Apply the manifests with " + Need.component("remediation-armed")
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

    private static List<String> missing(AccessReviewer rights, List<Need> needs)
            throws ApiException, InterruptedException {
        List<String> texts = new ArrayList<>();
        for (Need need : needs) {
            List<Right> missing = rights.missing(need.rights());
            if (!missing.isEmpty()) {
                texts.add(need.text(missing));
            }
        }
        return texts;
    }

    /** Returns the rights for users' own ways of repair; none without them. */
    private static List<Need> ofTemplates(RepairReconciler.Settings set) {
        return set.templates().rights().isEmpty()
                ? List.of()
                : List.of(
                        new Need(
                                "--remediation.templates",
                                set.templates().rights(),
                                "a ClusterRole of yours for them, with the label gpuwarden.dev/aggregate-to-remediation:"
                                        + " \"true\"",
                                "no --remediation.templates"),
                        ofLocks(
                                "--remediation.templates",
                                List.of("get", "list", "create", "delete"),
                                set.lockNamespace(),
                                "no --remediation.templates"));
    }

    /** Returns the rights of an aggregator that takes nodes out of service, drains and repairs them. */
    static List<PipelineSettings.Need> ofPipeline(
            DrainPolicies policies, RepairReconciler.Settings repairs, Optional<JanitorSettings> janitor) {
        List<Need> needs = new ArrayList<>(List.of(Need.armed("quarantine", QUARANTINE)));
        needs.addAll(ofDrain(policies));
        needs.add(Need.armed("remediation", REPAIR));
        needs.addAll(ofTemplates(repairs));
        janitor.ifPresent(set -> needs.addAll(ofJanitorImage(set)));
        return needs.stream()
                .map(need -> new PipelineSettings.Need(need.setting(), need.rights(), need.source()))
                .toList();
    }

    private static List<Need> ofJanitorImage(JanitorSettings set) {
        String setting = "--janitor.image=" + set.image();
        String other = "no --janitor.image";
        return List.of(
                new Need(setting, ofJanitor(set), Need.component("remediation-armed"), other),
                ofLocks(setting, List.of("get", "create", "delete"), set.lockNamespace(), other));
    }

    private static Need ofLocks(String setting, List<String> verbs, String namespace, String other) {
        return new Need(
                setting,
                verbs.stream()
                        .map(verb -> new Right(verb, "coordination.k8s.io", "leases", namespace))
                        .toList(),
                "a Role for them in the namespace " + namespace
                        + "; components/remediation-armed has one for the aggregator's own namespace",
                other);
    }

    private static List<Need> ofDrain(DrainPolicies policies) {
        List<Need> needed = new ArrayList<>(List.of(Need.armed("drain", List.of(EVICT))));
        if (policies.uses(DrainMode.DELETE_AFTER_TIMEOUT)) {
            needed.add(new Need(
                    "the mode " + DrainMode.DELETE_AFTER_TIMEOUT.label() + " of drains",
                    List.of(DELETE),
                    Need.component("drain-delete"),
                    "no such mode in --drain.namespaces and --drain.pods"));
        }
        return needed;
    }

    private static List<Right> ofJanitor(JanitorSettings janitor) {
        List<Right> needed = new ArrayList<>();
        for (MaintenanceKind kind : MaintenanceKind.values()) {
            String resources = kind.resources().plural();
            needed.add(new Right("patch", MaintenanceKind.GROUP, resources));
            needed.add(new Right("delete", MaintenanceKind.GROUP, resources));
            needed.add(new Right("patch", MaintenanceKind.GROUP, resources + "/status"));
        }
        needed.add(new Right("patch", "", "nodes"));
        needed.add(new Right("list", "", "pods"));
        needed.add(new Right("patch", "batch", "jobs", janitor.namespace()));
        for (String verb : List.of("get", "create", "delete")) {
            needed.add(new Right(verb, "batch", "jobs", janitor.namespace()));
        }
        return needed;
    }

    private static List<Need> ofVram(VramSettings vram) {
        List<Need> needs = new ArrayList<>();
        if (vram.advertises()) {
            needs.add(
                    new Need("--vram.capacity=on", ADVERTISE, Need.component("vram-advertise"), "--vram.capacity=off"));
        }
        if (vram.mode() == ActionMode.ARMED) {
            needs.add(new Need(
                    "--vram.evictions=armed",
                    List.of(EVICT, EVENTS),
                    Need.component("vram-armed"),
                    "--vram.evictions=dry-run"));
            needs.add(ofBudgets("--vram.evictions=armed"));
        }
        if (vram.mode() == ActionMode.ARMED && vram.deletes()) {
            needs.add(
                    new Need("--vram.delete=on", List.of(DELETE), Need.component("vram-delete"), "--vram.delete=off"));
        }
        return needs;
    }

    /** Returns the rights to read budgets, which an aggregator without them serves to no node. */
    private static Need ofBudgets(String setting) {
        return new Need(setting, BUDGETS, "gpuwarden-aggregator.yaml", "--vram.evictions=off");
    }
}
