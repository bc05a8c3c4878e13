package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.cli.web.WebStats;
import dev.gpuwarden.core.check.CheckSet;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.grpc.CallStats;
import dev.gpuwarden.daemon.kernlog.KernelLogStats;
import dev.gpuwarden.daemon.kube.KubeStats;
import dev.gpuwarden.daemon.repair.RepairStatus;
import dev.gpuwarden.daemon.sink.SinkStats;
import dev.gpuwarden.daemon.store.StoreStatus;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/** Collectors of the daemon's parts, one for each part that counts its own work. */
public final class PartCollectors {

    private PartCollectors() {}

    /** Collects the state of the event store: whether it can be written, its size, and the events that its receivers lack. */
    public static Collector store(Supplier<StoreStatus> store) {
        return new Collector("store", (scrape, out) -> {
            StoreStatus status = store.get();
            out.add("gpuwarden_store_in_memory", status.memoryCause().isPresent() ? 1 : 0);
            out.add("gpuwarden_store_failing", status.trouble().isPresent() ? 1 : 0);
            out.add("gpuwarden_store_size_bytes", status.sizeBytes());
            out.add("gpuwarden_store_events", status.events());
            out.add("gpuwarden_store_waiting", status.waiting());
            out.add("gpuwarden_store_held_events", status.heldEvents());
            out.add("gpuwarden_store_held_bytes", status.heldBytes());
            status.receipts()
                    .forEach((receipt, count) -> out.add(
                            "gpuwarden_store_receipts",
                            Labels.of("receipt", receipt.name().toLowerCase(Locale.ROOT)),
                            count));
            out.add("gpuwarden_store_faults_left_out", status.faultsLeftOut());
            status.leftOut()
                    .shares()
                    .forEach(share -> out.add(
                            "gpuwarden_store_left_out_reports", Labels.of("agent", share.agent()), share.reports()));
            out.add("gpuwarden_store_deleted_events", status.deleted());
            out.add("gpuwarden_store_corrupt_files", status.setAside());
            out.add("gpuwarden_store_commit_duration_seconds", Labels.EMPTY, status.commitMicros());
            status.receivers().forEach((receiver, lag) -> {
                Labels labels = Labels.of("receiver", receiver);
                out.add("gpuwarden_store_receiver_waiting_events", labels, lag.waiting());
                out.add("gpuwarden_store_receiver_dropped_events", labels, lag.dropped());
            });
        });
    }

    /** Collects the state of the repair of this server, and the numbers of repairs. */
    public static Collector repairs(Supplier<RepairStatus> repair) {
        return new Collector("repairs", (scrape, out) -> {
            RepairStatus status = repair.get();
            for (RepairStatus.State state : RepairStatus.State.values()) {
                out.add("gpuwarden_repair_state", Labels.of("state", state.label()), status.state() == state ? 1 : 0);
            }
            out.add("gpuwarden_repair_operator_tasks", status.tasks().size());
            status.ended()
                    .forEach((end, count) -> out.add(
                            "gpuwarden_repairs_recorded", Labels.of("kind", end.get(0), "outcome", end.get(1)), count));
        });
    }

    /** Collects the intervals of checks with a load on GPUs that this daemon runs by itself. */
    public static Collector checkSets(CheckPlan plan) {
        return new Collector(
                "check-sets",
                (scrape, out) -> plan.planned()
                        .forEach(planned -> CheckSet.of(planned.check().load())
                                .ifPresent(set -> out.add(
                                        "gpuwarden_check_set_interval_seconds",
                                        Labels.of("check", planned.info().id(), "set", set.label()),
                                        planned.info().every().toNanos() / 1e9))));
    }

    /** Collects the state of the kernel-log monitor, and the counts of its records. */
    public static Collector kernelLog(Supplier<KernelLogStats> log) {
        return new Collector("kernel-log", (scrape, out) -> {
            KernelLogStats stats = log.get();
            if (!(stats.status() instanceof Reading.Present<KernelLogStatus> present)) {
                return;
            }
            KernelLogStatus status = present.value();
            out.add(
                    "gpuwarden_kernel_log_up",
                    Labels.of("source", status.source()),
                    status.unreadable().isEmpty() ? 1 : 0);
            stats.records()
                    .forEach((writer, count) -> out.add(
                            "gpuwarden_kernel_log_records",
                            Labels.of("writer", writer.name().toLowerCase(Locale.ROOT)),
                            count));
            stats.signals()
                    .forEach((code, count) -> out.add(
                            "gpuwarden_kernel_log_signals",
                            Labels.of("kind", code.kind(), "code", code.code()),
                            count));
            out.add("gpuwarden_kernel_log_silent_signals", stats.silent());
            out.add("gpuwarden_kernel_log_suppressed_signals", stats.suppressed());
            out.add("gpuwarden_kernel_log_collapsed_signals", status.collapsed());
            out.add("gpuwarden_kernel_log_forged_records", status.forged());
            out.add("gpuwarden_kernel_log_unread_records", status.unread());
            out.add("gpuwarden_kernel_log_events", stats.events());
            out.add("gpuwarden_kernel_log_unstored_events", stats.unstored());
            out.add("gpuwarden_kernel_log_gaps", status.gaps());
            out.add("gpuwarden_kernel_log_lost_records", status.lost());
            out.add("gpuwarden_kernel_log_pattern_cutoffs", stats.patternsCutOff());
        });
    }

    /** Collects the delivery of events to other systems. */
    public static Collector sinks(Supplier<List<SinkStats>> sinks) {
        return new Collector("sinks", (scrape, out) -> {
            for (SinkStats sink : sinks.get()) {
                Labels labels = Labels.of("sink", sink.sink());
                out.add("gpuwarden_sink_events_sent", labels, sink.sent());
                out.add("gpuwarden_sink_events_refused", labels, sink.refused());
                out.add("gpuwarden_sink_failures", labels, sink.failures());
                out.add("gpuwarden_sink_up", labels, sink.lastError().isEmpty() ? 1 : 0);
            }
        });
    }

    /** Collects connections and refusals of the HTTP server. */
    public static Collector web(WebStats stats) {
        return new Collector("web", (scrape, out) -> {
            out.add("gpuwarden_web_connections", stats.connections());
            out.add("gpuwarden_web_held_bytes", stats.bodyBytes());
            for (WebStats.Refusal why : WebStats.Refusal.values()) {
                out.add("gpuwarden_web_refused", Labels.of("cause", why.label()), stats.refusals(why));
            }
        });
    }

    /** Collects clients, calls and refusals of the gRPC server. */
    public static Collector grpc(CallStats stats) {
        return new Collector("grpc", (scrape, out) -> {
            stats.eachEnded((ended, count) -> out.add(
                    "gpuwarden_grpc_calls",
                    Labels.of(
                            "code", ended.code().name(),
                            "method", ended.method(),
                            "service", ended.service()),
                    count));
            out.add("gpuwarden_grpc_open_calls", stats.calls());
            out.add("gpuwarden_grpc_watches", stats.watchers());
            out.add("gpuwarden_grpc_connections", stats.connections());
            out.add("gpuwarden_grpc_held_bytes", stats.heldBytes());
            for (CallStats.Refusal why : CallStats.Refusal.values()) {
                out.add("gpuwarden_grpc_refused", Labels.of("cause", why.label()), stats.refusals(why));
            }
            for (CallStats.RefusedReport why : CallStats.RefusedReport.values()) {
                out.add("gpuwarden_grpc_refused_reports", Labels.of("cause", why.label()), stats.refusals(why));
            }
        });
    }

    /**
     * Collects requests to the Kubernetes API and their results, by the kind of request. A kind has no series before its
     * first request.
     */
    public static Collector kubernetes(Supplier<Map<String, KubeStats>> stats) {
        return new Collector("kubernetes", (scrape, out) -> {
            stats.get().forEach((kind, of) -> {
                out.add("gpuwarden_kubernetes_requests", Labels.of("kind", kind, "result", "ok"), of.ok());
                out.add("gpuwarden_kubernetes_requests", Labels.of("kind", kind, "result", "refused"), of.refused());
                out.add("gpuwarden_kubernetes_requests", Labels.of("kind", kind, "result", "failed"), of.failed());
                Labels labels = Labels.of("kind", kind);
                out.add("gpuwarden_kubernetes_up", labels, of.lastError().isEmpty() ? 1 : 0);
                of.lastSuccess()
                        .ifPresent(at -> out.add(
                                "gpuwarden_kubernetes_last_success_timestamp_seconds",
                                labels,
                                at.toEpochMilli() / 1e3));
            });
        });
    }
}
