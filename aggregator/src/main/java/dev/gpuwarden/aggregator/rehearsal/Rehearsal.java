package dev.gpuwarden.aggregator.rehearsal;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.AccessReviewer.Account;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.KubeClient.Pages;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.fleet.ClusterContext;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.aggregator.quarantine.CurrentFaults;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.quarantine.FaultReport.Standing;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.quarantine.QuarantineReasons.Explanation;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.aggregator.rehearsal.DryRunWrites.Answer;
import dev.gpuwarden.aggregator.rehearsal.NodeGpus.Gpu;
import dev.gpuwarden.aggregator.rehearsal.PipelineSettings.Mode;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Stage;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Verdict;
import dev.gpuwarden.aggregator.remediation.RepairRehearsal;
import dev.gpuwarden.aggregator.remediation.RepairRehearsal.Result;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The rehearsal of faults on one node, with the rights of the caller. Each write has {@code dryRun=All}, so the API server
 * validates it and stores nothing. Blocks.
 */
public final class Rehearsal {

    /**
     * @param faults each as {@code xid=48} or {@code check=NAME/ACTION}
     * @param gpu index or UUID; empty for the first that the cluster's objects name
     * @param account the aggregator's ServiceAccount
     * @param limit the time after which no further write is validated
     */
    public record Request(String node, List<String> faults, Optional<String> gpu, Account account, Duration limit) {}

    private final KubeClient api;
    private final FleetReader reader;
    private final PipelineSettings settings;
    private final Request request;
    private final Clock clock;
    private final Instant now;
    private final Entries entries;
    private final List<FaultArgument> faults;

    /** @throws IllegalArgumentException if a fault cannot be parsed */
    public Rehearsal(KubeClient api, FleetReader reader, PipelineSettings settings, Request request, Clock clock) {
        this.api = api;
        this.reader = reader;
        this.settings = settings;
        this.request = request;
        this.clock = clock;
        this.now = clock.instant();
        this.entries = new Entries(clock, request.limit());
        this.faults = request.faults().stream().map(FaultArgument::parse).toList();
    }

    /**
     * Runs the rehearsal.
     *
     * @throws IllegalArgumentException if the node or the GPU does not exist, or the node is in quarantine already
     */
    public Timeline run() throws ApiException, InterruptedException {
        String node = request.node();
        Map<String, Object> tree = api.find(NodeCache.NODES.path(node))
                .orElseThrow(() -> new IllegalArgumentException(
                        "the cluster has no Node " + node + ": kubectl get nodes lists those it has"));
        if (QuarantineSummary.marked(CachedNode.of(tree))) {
            throw new IllegalArgumentException("node " + node
                    + ": expected a node in service, found one in quarantine: gpuwarden explain " + node
                    + " shows its real timeline");
        }
        Optional<Map<String, Object>> health = api.find(NodeHealthClient.ALL.path(node));
        List<Map<String, Object>> pods = new ArrayList<>();
        Pages.each(
                api,
                "/api/v1/pods",
                "fieldSelector=" + Pages.encoded("spec.nodeName=" + node),
                pod -> pods.add(JsonTrees.copy(pod)));
        List<String> devices = pods.stream()
                .map(PodView::of)
                .flatMap(pod -> pod.devices().stream().flatMap(java.util.Set::stream))
                .toList();
        Gpu gpu = NodeGpus.of(health.orElse(Map.of()), devices).choose(node, request.gpu());
        if (gpu.source().isEmpty()) {
            entries.note("no object of the cluster confirms that node " + node + " has " + gpu.uuid());
        }
        settings.unread().ifPresent(why -> entries.note("the defaults of all settings are assumed: " + why));
        String caller = FleetReader.user(api).value().orElse("an unknown user");
        RightsCheck rights = RightsCheck.of(api, request.account(), caller, settings.needs());
        rights.note().ifPresent(entries::note);
        FaultReport before = FaultReport.of(node, health, now);
        stages(tree, pods, before, gpu);
        return new Timeline(
                now,
                node,
                request.account().user(),
                gpu.label() + (gpu.label().contains(gpu.uuid()) ? "" : " " + gpu.uuid()),
                faults.stream().map(FaultArgument::text).toList(),
                Explanation.each(before.faults(), before.names()),
                entries.all(),
                rights.checked(),
                rights.missing(),
                entries.notes());
    }

    private void stages(Map<String, Object> tree, List<Map<String, Object>> pods, FaultReport before, Gpu gpu)
            throws InterruptedException, ApiException {
        Optional<FaultReport> report = report(CachedNode.of(tree), before, gpu);
        if (report.isEmpty()) {
            return;
        }
        ClusterContext around = reader.context(now);
        try {
            Optional<Map<String, Object>> quarantined = quarantine(tree, report.get(), around);
            if (quarantined.isPresent()) {
                later(quarantined.get(), pods, report.get(), around);
            }
        } catch (IOException e) {
            entries.add(Stage.QUARANTINE, Verdict.STOPS, "leave the node alone", String.valueOf(e.getMessage()));
        }
    }

    // ---- from the fault to the quarantine ----

    /** Adds the events. Returns the node's next report; empty if the daemon would report none of the faults. */
    private Optional<FaultReport> report(CachedNode node, FaultReport before, Gpu gpu) {
        FaultTable table = new FaultTable();
        before.faults().forEach(table::restore);
        boolean any = false;
        for (FaultArgument fault : faults) {
            Optional<HealthEvent> event = fault.event(node.name(), gpu.names(), now);
            if (event.isEmpty()) {
                entries.add(Stage.FAULT, Verdict.STOPS, "report nothing for " + fault.text(), fault.source());
                continue;
            }
            any = true;
            var unused = table.apply(event.get(), 0, now);
            entries.add(
                    Stage.FAULT,
                    Verdict.DOES,
                    event.get().agent() + " reports " + event.get().checkName()
                            + (event.get().fatal() ? ", fatal, " : ", not fatal, ")
                            + event.get().action(),
                    fault.source());
        }
        before.unfitFor(node)
                .or(() -> before.monitorsAlone() ? Optional.of(before.why()) : Optional.empty())
                .ifPresent(why -> entries.add(
                        Stage.FAULT,
                        Verdict.STOPS,
                        "reach the aggregator",
                        "no report of this node counts now: " + why + ". Check its daemon"));
        return any
                ? Optional.of(new FaultReport(
                        node.name(),
                        node.uid(),
                        Standing.TRUSTED,
                        "",
                        table.faults(),
                        before.ofMonitors(),
                        before.names(),
                        before.unlisted(),
                        before.gpus()))
                : Optional.empty();
    }

    private Optional<Map<String, Object>> quarantine(
            Map<String, Object> tree, FaultReport report, ClusterContext around) throws InterruptedException {
        if (around.rules().value().isEmpty()) {
            entries.add(
                    Stage.QUARANTINE,
                    Verdict.UNKNOWN,
                    "evaluate the rule sets",
                    around.rules().why());
            return Optional.empty();
        }
        leader(around);
        CachedNode node = CachedNode.of(tree);
        Decision decision = decide(node, report, around, false);
        if (decision instanceof Decision.Leave leave && leave.refused()) {
            entries.add(Stage.QUARANTINE, Verdict.STOPS, "leave the node in service", "the breaker: " + leave.reason());
            decision = decide(node, report, around, true);
        } else if (around.unknown().isPresent()) {
            entries.add(
                    Stage.QUARANTINE,
                    Verdict.UNKNOWN,
                    "ask the breaker",
                    around.unknown().get());
            around.notes(now).forEach(entries::note);
        }
        if (!(decision instanceof Decision.Act act)) {
            entries.add(Stage.QUARANTINE, Verdict.STOPS, "leave the node in service", decision.reason());
            return Optional.empty();
        }
        entries.mode(Stage.QUARANTINE, quarantineMode(around), "--quarantine.mode");
        Answer answer =
                new DryRunWrites(api).patch(NodeCache.NODES.path(node.name()), "gpuwarden-quarantine", act.patch());
        entries.add(
                Stage.QUARANTINE,
                answer.verdict(),
                "take the node out of service by one patch",
                answer.why()
                        + (act.audit().breaker().isEmpty()
                                ? ""
                                : "; the breaker: " + act.audit().breaker())
                        + "; " + act.reason());
        return answer.object();
    }

    private Decision decide(CachedNode node, FaultReport report, ClusterContext around, boolean permits) {
        return QuarantineDecider.decide(
                node,
                report,
                around.rules().value().orElseThrow(),
                asks -> permits
                        ? new BreakerPolicy.Answer(true, "assumed to permit it", BreakerState.NEW)
                        : around.ask(asks, now),
                ActionMode.ARMED,
                now);
    }

    private void leader(ClusterContext around) {
        if (around.leader().value().isEmpty()) {
            entries.add(
                    Stage.QUARANTINE,
                    Verdict.UNKNOWN,
                    "have an aggregator that acts",
                    around.leader().why());
        } else if (!around.leader().value().get().leads(now)) {
            entries.add(
                    Stage.QUARANTINE,
                    Verdict.STOPS,
                    "have an aggregator that acts",
                    "none leads since " + around.leader().value().get().until());
        }
    }

    private Mode quarantineMode(ClusterContext around) {
        return around.breaker()
                .mode()
                .value()
                .map(mode -> mode == ActionMode.ARMED ? Mode.ARMED : Mode.DRY_RUN)
                .orElse(settings.quarantine());
    }

    // ---- from the drain to the return ----

    private void later(
            Map<String, Object> quarantined, List<Map<String, Object>> pods, FaultReport report, ClusterContext around)
            throws IOException, ApiException, InterruptedException {
        entries.mode(Stage.DRAIN, settings.drain(), "--drain.mode");
        DrainStage drain =
                new DrainStage(api, settings, pods, new CurrentFaults(report.faults(), report.gpus()), clock, entries);
        Optional<Map<String, Object>> drained = drain.run(quarantined, Optional.empty());
        if (drained.isEmpty()) {
            return;
        }
        entries.mode(Stage.REPAIR, settings.repair(), "--remediation.mode");
        RepairStage stage = new RepairStage(api, settings, pods, report.gpus(), now, entries);
        if (!stage.read()) {
            return;
        }
        Optional<String> breaker =
                around.open(CachedNode.of(quarantined)) ? Optional.of("the breaker is open") : Optional.empty();
        RepairRehearsal repair = stage.decide(drained.get(), report, breaker);
        if (repair.result() == Result.DRAIN) {
            entries.add(Stage.REPAIR, Verdict.DOES, "drain all pods first", repair.why());
            drained = drain.run(quarantined, Optional.of(repair.why()));
            repair = stage.decide(drained.orElseThrow(), report, breaker);
        }
        if (stage.run(repair, drained.orElseThrow())) {
            returns(repair);
        }
    }

    private void returns(RepairRehearsal repair) {
        if (repair.requests().stream()
                .flatMap(each -> each.own().stream())
                .anyMatch(RepairRehearsal.OwnWay::operator)) {
            entries.add(Stage.RETURN, Verdict.STOPS, "wait for an operator", "the template has after: operator");
            return;
        }
        if (repair.requests().stream().allMatch(each -> each.own().isEmpty())) {
            boolean reboot = repair.requests().stream().anyMatch(each -> each.kind() != MaintenanceKind.GPU_RESET);
            entries.add(
                    Stage.RETURN,
                    Verdict.DOES,
                    reboot
                            ? "RepairVerification keeps the node out until the daemon's checks have passed since the"
                                    + " boot"
                            : "the checks of gpuwarden gpu-reset pass before the daemon reports the reset",
                    "docs/operating/repair.md has the checks");
        }
        entries.add(
                Stage.RETURN,
                Verdict.DOES,
                "return the node to service when its daemon reports that the fault is over",
                "a fault that is still reported after this time leads to the next repair",
                Optional.of(settings.repairs().settle()));
    }
}
