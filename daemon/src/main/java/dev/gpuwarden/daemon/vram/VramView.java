package dev.gpuwarden.daemon.vram;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The VRAM watchdog's state for one GPU, as commands and the page show it. Its size is bounded: names come from pods and units.
 *
 * @param lastGoodAt empty where no decision had a basis
 * @param pressure empty where the last decision had no basis
 * @param tenants the largest first, by use or budget
 */
public record VramView(
        int index,
        Reading<String> uuid,
        String verdict,
        String reason,
        Instant decidedAt,
        Optional<Instant> lastGoodAt,
        Reading<Memory> memory,
        Optional<Pressure> pressure,
        Reading<List<Row>> tenants,
        int tenantsLeftOut,
        List<String> notices) {

    static final int MOST_TENANTS = 64;
    private static final Set<Absence> NO_BUDGET = Set.of(Absence.NO_DATA, Absence.NOT_SUPPORTED, Absence.OFF);
    private static final int MOST_TEXTS = 16;
    private static final int NAME = 128;
    private static final int SENTENCE = 512;

    /** Bytes of the card; the total is the sum of the others. */
    public record Memory(long total, long reserved, long used, long free) {}

    /** The watchdog's {@link dev.gpuwarden.watchdog.pressure.Pressure} in bytes and words. */
    public record Pressure(long floor, long promised, List<String> triggers, List<String> starved) {}

    /**
     * One tenant.
     *
     * @param used bytes
     * @param budget bytes
     * @param spared why it would not be recycled; empty where it would be, or where tenants were not compared
     */
    public record Row(
            String id,
            String name,
            String workload,
            Reading<Long> used,
            Reading<Long> budget,
            boolean leaving,
            String spared) {

        /** Returns the bytes beyond its budget, 0 within it; absent where use or budget is. */
        public Reading<Long> over() {
            return used instanceof Reading.Present<Long> taken
                    ? budget.map(promised -> Math.max(0, taken.value() - promised))
                    : used;
        }

        /** Returns whether it has a budget whose text cannot be read. */
        public boolean isUnreadable() {
            return VramView.isUnreadable(budget);
        }

        private long size() {
            return Math.max(used.asOptional().orElse(0L), budget.asOptional().orElse(0L));
        }
    }

    /** Returns whether this is a budget whose text cannot be read, and not the absence of one. */
    public static boolean isUnreadable(Reading<Long> budget) {
        return budget instanceof Reading.Absent<Long> none && !NO_BUDGET.contains(none.cause());
    }

    public static VramView of(VramStatus status) {
        Decision decision = status.decision();
        Map<String, String> spared = decision.ranking().stream()
                .collect(Collectors.toMap(
                        each -> each.tenant().id(), each -> each.spared().orElse(""), (first, second) -> first));
        Reading<List<Row>> all = decision.seen()
                .tenants()
                .map(tenants -> tenants.stream()
                        .map(tenant -> row(tenant, spared.getOrDefault(tenant.id(), "")))
                        .sorted(Comparator.comparingLong(Row::size).reversed().thenComparing(Row::id))
                        .toList());
        int left = all.asOptional().map(rows -> rows.size() - MOST_TENANTS).orElse(0);
        return new VramView(
                status.gpu().index(),
                status.gpu().uuid(),
                word(decision.verdict()),
                Text.truncate(decision.reason(), SENTENCE),
                status.decidedAt(),
                Optional.of(status.lastGoodAt()).filter(time -> time.isAfter(Instant.EPOCH)),
                memory(decision.seen().memory()),
                decision.pressure().map(VramView::pressure),
                all.map(rows -> rows.stream().limit(MOST_TENANTS).toList()),
                Math.max(0, left),
                texts(notices(decision), SENTENCE));
    }

    private static List<String> notices(Decision decision) {
        Map<String, String> names = decision.seen().tenants().asOptional().orElse(List.of()).stream()
                .collect(Collectors.toMap(Tenant::id, Tenant::name, (first, second) -> first));
        Stream<String> reservations = decision.seen().reservations().stream()
                .map(each -> "reservation of " + Mib.text(each.bytes()) + " for "
                        + names.getOrDefault(each.tenant(), each.tenant())
                        + (each.granted() ? ": granted, " + Mib.text(each.unusedBytes()) + " unused" : ": waits"));
        return Stream.concat(decision.notices().stream(), reservations).toList();
    }

    private static Reading<Memory> memory(Reading<GpuBytes> bytes) {
        if (bytes instanceof Reading.Present<GpuBytes> present
                && present.value().doubt().isPresent()) {
            return Reading.absent(
                    Absence.IMPLAUSIBLE, 0, present.value().doubt().orElseThrow());
        }
        return bytes.map(memory -> {
            long used = Math.max(0, memory.total() - memory.free() - memory.reserved());
            return new Memory(memory.total(), memory.total() - memory.free() - used, used, memory.free());
        });
    }

    private static Pressure pressure(dev.gpuwarden.watchdog.pressure.Pressure pressure) {
        return new Pressure(
                pressure.floorBytes(),
                pressure.promisedBytes(),
                pressure.triggers().stream().sorted().map(VramView::word).toList(),
                texts(pressure.starved(), NAME));
    }

    private static Row row(Tenant tenant, String spared) {
        return new Row(
                Text.truncate(tenant.id(), NAME),
                Text.truncate(tenant.name(), NAME),
                Text.truncate(tenant.workload(), NAME),
                tenant.used(),
                tenant.budget(),
                tenant.leaving(),
                Text.truncate(spared, SENTENCE));
    }

    private static List<String> texts(List<String> all, int most) {
        return all.stream()
                .limit(MOST_TEXTS)
                .map(text -> Text.truncate(text, most))
                .toList();
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the JSON form. */
    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("index", index);
        tree.put("uuid", Values.tree(uuid));
        tree.put("verdict", verdict);
        tree.put("reason", reason);
        tree.put("decidedAt", decidedAt.toString());
        lastGoodAt.ifPresent(time -> tree.put("lastGoodAt", time.toString()));
        tree.put("memory", Values.tree(memory, VramView::tree));
        pressure.ifPresent(now -> {
            tree.put("floorBytes", now.floor());
            tree.put("promisedBytes", now.promised());
            tree.put("pressure", now.triggers());
            tree.put("starved", now.starved());
        });
        tree.put(
                "tenants",
                Values.tree(tenants, rows -> rows.stream().map(VramView::tree).toList()));
        tree.put("tenantsLeftOut", tenantsLeftOut);
        tree.put("notices", new ArrayList<>(notices));
        return tree;
    }

    private static Map<String, Object> tree(Memory memory) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("totalBytes", memory.total());
        tree.put("reservedBytes", memory.reserved());
        tree.put("usedBytes", memory.used());
        tree.put("freeBytes", memory.free());
        return tree;
    }

    private static Map<String, Object> tree(Row row) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", row.name());
        tree.put("id", row.id());
        tree.put("workload", row.workload());
        tree.put("usedBytes", Values.tree(row.used()));
        tree.put("budgetBytes", Values.tree(row.budget()));
        tree.put("overBytes", Values.tree(row.over()));
        tree.put("leaving", row.leaving());
        if (!row.spared().isEmpty()) {
            tree.put("spared", row.spared());
        }
        return tree;
    }
}
