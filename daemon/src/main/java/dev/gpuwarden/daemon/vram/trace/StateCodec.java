package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import dev.gpuwarden.watchdog.pressure.Hysteresis;
import dev.gpuwarden.watchdog.pressure.PressureState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/** A watchdog's state as a JSON object. The order of its lists and names is part of it. */
final class StateCodec {

    private static final int MOST_PROCESSES = 65_536;
    private static final int MOST_TIMES = 4096;

    private StateCodec() {}

    static Map<String, Object> tree(WatchdogState state) {
        Map<String, Object> tree = new LinkedHashMap<>();
        state.newest().ifPresent(newest -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("sequence", newest.sequence());
            fields.put("atNanos", newest.atNanos());
            tree.put("newest", fields);
        });
        state.lastGoodNanos().ifPresent(nanos -> tree.put("lastGoodNanos", nanos));
        state.listed().ifPresent(list -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("atNanos", list.atNanos());
            fields.put("usedBytes", list.usedBytes());
            tree.put("listed", fields);
        });
        tree.put("pressure", tree(state.pressure()));
        tree.put("overSince", new TreeMap<>(state.overSince()));
        Map<String, Object> endings = new TreeMap<>();
        List<String> others = new ArrayList<>();
        new TreeMap<>(state.endings()).forEach((tenant, end) -> {
            endings.put(tenant, end.sinceNanos());
            if (!end.chosen()) {
                others.add(tenant);
            }
        });
        tree.put("endings", endings);
        if (!others.isEmpty()) {
            tree.put("othersEnding", others);
        }
        state.othersEndSinceNanos().ifPresent(nanos -> tree.put("othersEndSinceNanos", nanos));
        tree.put("peaks", state.peaks());
        tree.put("history", tree(state.history()));
        return tree;
    }

    private static Map<String, Object> tree(PressureState pressure) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("floor", tree(pressure.floor()));
        tree.put("deficit", tree(pressure.deficit()));
        if (!pressure.withheld().equals(PressureState.NONE.withheld())) {
            tree.put("withheld", tree(pressure.withheld()));
        }
        tree.put("tenantsNanos", pressure.tenantsNanos());
        tree.put(
                "processes", pressure.processes().stream().map(StateCodec::tree).toList());
        Map<String, Object> attempts = new LinkedHashMap<>();
        pressure.attempts().forEach(of -> attempts.put(of.workload(), of.nanos()));
        tree.put("attempts", attempts);
        return tree;
    }

    private static Map<String, Object> tree(Hysteresis hysteresis) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("recent", hysteresis.recent());
        tree.put("on", hysteresis.on());
        tree.put("sinceNanos", hysteresis.sinceNanos());
        tree.put("lastLowNanos", hysteresis.lastLowNanos());
        return tree;
    }

    private static Map<String, Object> tree(PressureState.Seen seen) {
        Map<String, Object> tree = ObservationCodec.tree(seen.process());
        tree.put("workload", seen.workload());
        tree.put("firstNanos", seen.firstNanos());
        tree.put("starved", seen.starved());
        return tree;
    }

    private static Map<String, Object> tree(RecycleHistory.State history) {
        Map<String, Object> rows = new LinkedHashMap<>();
        history.byWorkload().forEach((workload, row) -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("lastNanos", row.lastNanos());
            fields.put("returns", row.returns());
            rows.put(workload, fields);
        });
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("byWorkload", rows);
        tree.put("lastHourNanos", history.lastHourNanos());
        Map<String, Object> undone = new LinkedHashMap<>();
        history.undone().forEach((workload, end) -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("atNanos", end.atNanos());
            fields.put("failures", end.failures());
            fields.put("refusals", end.refusals());
            undone.put(workload, fields);
        });
        if (!undone.isEmpty()) {
            tree.put("undone", undone);
        }
        return tree;
    }

    static WatchdogState read(Fields fields) throws IOException {
        return new WatchdogState(
                fields.optionalObject(
                        "newest",
                        newest -> new WatchdogState.Newest(newest.number("sequence"), newest.number("atNanos"))),
                optionalNumber(fields, "lastGoodNanos"),
                fields.optionalObject(
                        "listed", list -> new WatchdogState.Listed(list.number("atNanos"), list.number("usedBytes"))),
                fields.object("pressure", StateCodec::pressure),
                fields.numbersByName("overSince"),
                endings(fields),
                optionalNumber(fields, "othersEndSinceNanos"),
                fields.numbersByName("peaks"),
                fields.object("history", StateCodec::history));
    }

    private static OptionalLong optionalNumber(Fields fields, String name) throws IOException {
        return fields.has(name) ? OptionalLong.of(fields.number(name)) : OptionalLong.empty();
    }

    /** Returns the ends. A record from before ends had a cause does not name others: the longer wait counts then. */
    private static Map<String, WatchdogState.Ending> endings(Fields fields) throws IOException {
        Set<String> others =
                fields.has("othersEnding") ? Set.copyOf(fields.texts("othersEnding", MOST_PROCESSES)) : Set.of();
        Map<String, WatchdogState.Ending> endings = new LinkedHashMap<>();
        fields.numbersByName("endings")
                .forEach((tenant, since) ->
                        endings.put(tenant, new WatchdogState.Ending(since, !others.contains(tenant))));
        return endings;
    }

    private static PressureState pressure(Fields fields) throws IOException {
        Map<String, List<Long>> attempts =
                fields.object("attempts", all -> all.byName((each, name) -> each.numbers(name, MOST_TIMES)));
        return new PressureState(
                fields.object("floor", StateCodec::hysteresis),
                fields.object("deficit", StateCodec::hysteresis),
                fields.optionalObject("withheld", StateCodec::hysteresis).orElse(PressureState.NONE.withheld()),
                fields.number("tenantsNanos"),
                fields.objects("processes", MOST_PROCESSES, StateCodec::seen),
                attempts.entrySet().stream()
                        .map(of -> new PressureState.Attempts(of.getKey(), of.getValue()))
                        .toList());
    }

    private static Hysteresis hysteresis(Fields fields) throws IOException {
        return new Hysteresis(
                fields.number("recent"), fields.flag("on"), fields.number("sinceNanos"), fields.number("lastLowNanos"));
    }

    private static PressureState.Seen seen(Fields fields) throws IOException {
        return new PressureState.Seen(
                ObservationCodec.process(fields),
                fields.text("workload"),
                fields.number("firstNanos"),
                fields.flag("starved"));
    }

    private static RecycleHistory.State history(Fields fields) throws IOException {
        return new RecycleHistory.State(
                fields.object(
                        "byWorkload",
                        all -> all.byName((each, name) -> each.object(
                                name,
                                row -> new RecycleHistory.Row(row.number("lastNanos"), row.count("returns", 1))))),
                fields.numbers("lastHourNanos", MOST_TIMES),
                // A node without such decisions has none, nor has a record of an older version.
                fields.optionalObject(
                                "undone",
                                all -> all.byName((each, name) -> each.object(
                                        name,
                                        end -> new RecycleHistory.Undone(
                                                end.number("atNanos"),
                                                end.count("failures", 0),
                                                // A record of an older version has none.
                                                end.has("refusals") ? end.count("refusals", 0) : 0))))
                        .orElse(Map.of()));
    }
}
