package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.vram.VramView;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.Pressure;
import dev.gpuwarden.watchdog.pressure.Trigger;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * The VRAM watchdog: memory against floor and budgets, pressure, and decisions. A GPU without a basis for a decision keeps the
 * series of its decisions, and has no series of what is unknown. Names of tenants are untrusted: they are cut, and of each
 * GPU the largest tenants alone have series.
 *
 * @param gpus the watchdog's state, one entry for each GPU that it decides about; does not block
 */
public record VramCollector(Supplier<List<VramStatus>> gpus, InstantSource clock) {

    /** Tenants and starved workloads of one GPU with series. */
    static final int MOST_TENANTS = 64;

    /** Characters of a label that a tenant chooses. */
    static final int MOST_CHARACTERS = 128;

    private static final List<String> OUTCOMES = List.of("dry_run", "accepted", "failed", "no_longer_needed");
    private static final Comparator<Tenant> LARGEST_FIRST =
            Comparator.comparingLong(VramCollector::size).reversed().thenComparing(Tenant::id);

    public Collector collector() {
        return new Collector("vram", this::collect);
    }

    private void collect(Collector.Scrape scrape, Family.Series out) {
        List<VramStatus> all = gpus.get();
        out.add("gpuwarden_vram_watched_gpus", all.size());
        for (VramStatus status : all) {
            Labels gpu = GpuLabels.of(status.gpu());
            decisions(status, gpu, out);
            reservations(status.decision().seen().reservations(), gpu, out);
            status.decision().pressure().ifPresent(pressure -> pressure(pressure, gpu, out));
            status.decision()
                    .seen()
                    .memory()
                    .asOptional()
                    .filter(memory -> memory.doubt().isEmpty())
                    .ifPresent(memory -> memory(memory, gpu, out));
            status.decision().seen().tenants().asOptional().ifPresent(tenants -> tenants(status, tenants, gpu, out));
        }
    }

    private void decisions(VramStatus status, Labels gpu, Family.Series out) {
        Decision decision = status.decision();
        for (Verdict verdict : Verdict.values()) {
            Labels labels = gpu.add("verdict", word(verdict));
            out.add("gpuwarden_vram_verdict", labels, verdict == decision.verdict() ? 1 : 0);
            out.add("gpuwarden_vram_decisions", labels, status.decisions().getOrDefault(verdict, 0L));
        }
        if (status.lastGoodAt().isAfter(Instant.EPOCH)) {
            Duration age = Duration.between(status.lastGoodAt(), clock.instant());
            out.add("gpuwarden_vram_last_good_decision_age_seconds", gpu, Math.max(0, age.toMillis() / 1e3));
            out.add(
                    "gpuwarden_vram_last_good_decision_timestamp_seconds",
                    gpu,
                    status.lastGoodAt().toEpochMilli() / 1e3);
        }
        Map<String, Long> recycles = new TreeMap<>(status.recycles());
        OUTCOMES.forEach(outcome -> recycles.putIfAbsent(outcome, 0L));
        recycles.forEach(
                (outcome, count) -> out.add("gpuwarden_vram_recycles", gpu.add("outcome", text(outcome)), count));
        // An offender that is not spared is left over only because the node may not recycle more.
        boolean offender =
                decision.ranking().stream().anyMatch(each -> each.spared().isEmpty());
        out.add("gpuwarden_vram_kill_cap_reached", gpu, decision.verdict() == Verdict.CAPPED && offender ? 1 : 0);
    }

    private static void reservations(List<Reservation> all, Labels gpu, Family.Series out) {
        long granted = all.stream().filter(Reservation::granted).count();
        out.add("gpuwarden_vram_reservations", gpu.add("state", "granted"), granted);
        out.add("gpuwarden_vram_reservations", gpu.add("state", "waiting"), all.size() - granted);
        out.add(
                "gpuwarden_vram_reservations_unused_bytes",
                gpu,
                all.stream()
                        .filter(Reservation::granted)
                        .mapToLong(Reservation::unusedBytes)
                        .sum());
    }

    private static void pressure(Pressure pressure, Labels gpu, Family.Series out) {
        for (Trigger trigger : Trigger.values()) {
            out.add("gpuwarden_vram_pressure", gpu.add("trigger", word(trigger)), pressure.has(trigger) ? 1 : 0);
        }
        out.add("gpuwarden_vram_floor_bytes", gpu, pressure.floorBytes());
        out.add("gpuwarden_vram_promised_bytes", gpu, pressure.promisedBytes());
    }

    /** Adds the parts so that reserve, use and free memory make up the card: the driver may count its reserve as used. */
    private static void memory(GpuBytes memory, Labels gpu, Family.Series out) {
        long used = inUse(memory);
        out.add("gpuwarden_vram_physical_bytes", gpu, memory.total());
        out.add("gpuwarden_vram_reserved_bytes", gpu, memory.total() - memory.free() - used);
        out.add("gpuwarden_vram_used_bytes", gpu, used);
        out.add("gpuwarden_vram_free_bytes", gpu, memory.free());
    }

    private static long inUse(GpuBytes memory) {
        return Math.max(0, memory.total() - memory.free() - memory.reserved());
    }

    private static void tenants(VramStatus status, List<Tenant> tenants, Labels gpu, Family.Series out) {
        out.add("gpuwarden_vram_tenants", gpu, tenants.size());
        out.add("gpuwarden_vram_tenants_without_series", gpu, Math.max(0, tenants.size() - MOST_TENANTS));
        double budgets = tenants.stream()
                .mapToDouble(tenant -> tenant.budget().asOptional().orElse(0L))
                .sum();
        out.add("gpuwarden_vram_budgets_bytes", gpu, budgets);
        tenants.stream().sorted(LARGEST_FIRST).limit(MOST_TENANTS).forEach(tenant -> tenant(tenant, gpu, out));
        mismatches(status.decision(), tenants, gpu, out);
        if (status.decision().pressure().isPresent()) {
            starved(status.decision().pressure().get(), tenants, gpu, out);
        }
    }

    private static void tenant(Tenant tenant, Labels gpu, Family.Series out) {
        Labels labels = gpu.merge(Labels.of(
                "tenant", text(tenant.name()), "tenant_id", text(tenant.id()), "workload", text(tenant.workload())));
        tenant.used().asOptional().ifPresent(used -> out.add("gpuwarden_vram_tenant_used_bytes", labels, used));
        tenant.budget().asOptional().ifPresent(budget -> {
            out.add("gpuwarden_vram_tenant_budget_bytes", labels, budget);
            if (tenant.used().asOptional().isPresent()) {
                out.add("gpuwarden_vram_tenant_over_budget_bytes", labels, Math.max(0, tenant.overBytes()));
            }
        });
    }

    private static void mismatches(Decision decision, List<Tenant> tenants, Labels gpu, Family.Series out) {
        long unreadable = tenants.stream()
                .filter(tenant -> VramView.isUnreadable(tenant.budget()))
                .count();
        out.add("gpuwarden_vram_budget_mismatches", gpu.add("cause", "unreadable"), unreadable);
        out.add(
                "gpuwarden_vram_budget_mismatches",
                gpu.add("cause", "outgrown"),
                decision.notices().size());
    }

    /** Adds the starved workloads first, so that a limit leaves out those that are not. */
    private static void starved(Pressure pressure, List<Tenant> tenants, Labels gpu, Family.Series out) {
        Set<String> starved = new TreeSet<>();
        pressure.starved().stream().limit(MOST_TENANTS).forEach(workload -> starved.add(text(workload)));
        Set<String> others = new TreeSet<>();
        tenants.stream().map(tenant -> text(tenant.workload())).forEach(others::add);
        others.removeAll(starved);
        starved.forEach(workload -> out.add("gpuwarden_vram_workload_starved", gpu.add("workload", workload), 1));
        others.stream()
                .limit(MOST_TENANTS - starved.size())
                .forEach(workload -> out.add("gpuwarden_vram_workload_starved", gpu.add("workload", workload), 0));
    }

    private static long size(Tenant tenant) {
        return Math.max(
                tenant.used().asOptional().orElse(0L),
                tenant.budget().asOptional().orElse(0L));
    }

    private static String text(String untrusted) {
        return Text.truncate(untrusted, MOST_CHARACTERS);
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
