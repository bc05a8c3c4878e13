package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.watchdog.decision.Candidate;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.GpuWatchdog;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.Pressure;
import dev.gpuwarden.watchdog.pressure.Trigger;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The audit record of one decision. It has everything that the decision depends on, so that it can be taken again.
 *
 * @param at time of the record by the clock of the day
 * @param origin where it was decided
 * @param before the watchdog's state before the decision
 */
public record DecisionRecord(Instant at, Origin origin, WatchdogRules rules, WatchdogState before, Decision decision) {

    public static final String SCHEMA = "gpuwarden.vram-decision/v1";

    private static final int MOST_TENANTS = 4096;
    private static final int MOST_TEXTS = 4096;

    /**
     * The place of a decision.
     *
     * @param bootId the boot by whose clock the nanoseconds count
     * @param mode {@code dry-run} or {@code armed}
     */
    public record Origin(String node, String bootId, String mode) {}

    /** Returns the decision that the rules, the state and the observation of this record give now. */
    public Decision decideAgain() {
        return GpuWatchdog.decide(rules.pressure(), rules.recycle(), before, decision.seen());
    }

    /** Returns the state after the decision. */
    public WatchdogState after() {
        RecycleHistory history = new RecycleHistory(rules.recycle(), before.history());
        GpuWatchdog watchdog = new GpuWatchdog(rules.pressure(), rules.recycle(), history, before);
        watchdog.decide(decision.seen());
        return watchdog.state();
    }

    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", at.toString());
        tree.put("node", origin.node());
        tree.put("bootId", origin.bootId());
        tree.put("mode", origin.mode());
        tree.putAll(tree(decision));
        tree.put("rules", rules.texts());
        tree.put("before", StateCodec.tree(before));
        return tree;
    }

    /** Returns a decision with its observation. */
    public static Map<String, Object> tree(Decision decision) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("verdict", Fields.label(decision.verdict()));
        tree.put("reason", decision.reason());
        tree.put("notices", decision.notices());
        decision.pressure().ifPresent(pressure -> tree.put("pressure", tree(pressure)));
        List<Object> ranking = new ArrayList<>();
        for (Candidate candidate : decision.ranking()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("tenant", candidate.tenant().id());
            candidate.spared().ifPresent(why -> row.put("spared", why));
            ranking.add(row);
        }
        tree.put("ranking", ranking);
        tree.put("seen", ObservationCodec.tree(decision.seen(), true));
        return tree;
    }

    private static Map<String, Object> tree(Pressure pressure) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put(
                "triggers",
                pressure.triggers().stream().sorted().map(Fields::label).toList());
        tree.put("floorBytes", pressure.floorBytes());
        tree.put("promisedBytes", pressure.promisedBytes());
        tree.put("deficitSinceNanos", pressure.deficitSinceNanos());
        tree.put("starved", pressure.starved());
        return tree;
    }

    /** @throws IOException that names the field, expected and seen, where it is no record */
    static DecisionRecord read(Fields fields) throws IOException {
        return new DecisionRecord(
                fields.time("at"),
                new Origin(fields.text("node"), fields.text("bootId"), fields.text("mode")),
                rules(fields),
                fields.object("before", StateCodec::read),
                decision(fields));
    }

    private static WatchdogRules rules(Fields fields) throws IOException {
        try {
            return WatchdogRules.DEFAULT.with(fields.textsByName("rules"));
        } catch (UserError e) {
            throw new IOException("rules: " + e.getMessage());
        }
    }

    private static Decision decision(Fields fields) throws IOException {
        GpuObservation seen = fields.object("seen", all -> ObservationCodec.read(all, Reading.absent(Absence.NO_DATA)));
        Map<String, Tenant> tenants = new LinkedHashMap<>();
        seen.tenants().asOptional().orElse(List.of()).forEach(tenant -> tenants.put(tenant.id(), tenant));
        return new Decision(
                seen,
                fields.constant("verdict", Verdict.class),
                fields.optionalObject("pressure", DecisionRecord::pressure),
                fields.objects("ranking", MOST_TENANTS, row -> candidate(row, tenants)),
                fields.text("reason"),
                fields.texts("notices", MOST_TEXTS));
    }

    private static Candidate candidate(Fields fields, Map<String, Tenant> tenants) throws IOException {
        Tenant tenant = tenants.get(fields.text("tenant"));
        if (tenant == null) {
            throw new IOException("ranking: expected tenants of the observation, seen " + fields.text("tenant"));
        }
        return new Candidate(tenant, fields.optionalText("spared"));
    }

    private static Pressure pressure(Fields fields) throws IOException {
        Set<Trigger> triggers = EnumSet.noneOf(Trigger.class);
        triggers.addAll(fields.constants("triggers", Trigger.class));
        return new Pressure(
                triggers,
                fields.number("floorBytes"),
                fields.number("promisedBytes"),
                fields.number("deficitSinceNanos"),
                fields.texts("starved", MOST_TEXTS));
    }
}
