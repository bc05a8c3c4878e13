package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.daemon.vram.rules.Rule;
import dev.gpuwarden.daemon.vram.trace.ActionRecord;
import dev.gpuwarden.daemon.vram.trace.DecisionRecord;
import dev.gpuwarden.watchdog.decision.Candidate;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.Pressure;
import dev.gpuwarden.watchdog.pressure.Trigger;
import java.io.PrintWriter;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * One recorded decision in plain words.
 *
 * @param actions attempts to carry it out
 * @param again the decision that its record gives now
 */
record VramExplanation(DecisionRecord record, List<ActionRecord> actions, Decision again) {

    static VramExplanation of(DecisionRecord record, List<ActionRecord> actions) {
        return new VramExplanation(record, actions, record.decideAgain());
    }

    /** Returns whether the record gives the same decision again, byte by byte. */
    boolean reproduced() {
        return Output.jsonLine(DecisionRecord.tree(again)).equals(Output.jsonLine(DecisionRecord.tree(decision())));
    }

    private Decision decision() {
        return record.decision();
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>(record.tree());
        tree.put("actions", actions.stream().map(ActionRecord::tree).toList());
        tree.put("reproduced", reproduced());
        if (!reproduced()) {
            tree.put("again", DecisionRecord.tree(again));
        }
        return tree;
    }

    void print(ZoneId zone, PrintWriter out) {
        GpuObservation seen = decision().seen();
        field(out, "time", ClientTimes.local(record.at(), zone));
        field(out, "node", record.origin().node() + ", " + record.origin().mode());
        field(out, "GPU", seen.gpu());
        field(out, "verdict", VramReplayCommand.word(decision().verdict()));
        field(out, "reason", decision().reason());
        decision().notices().forEach(notice -> field(out, "notice", notice));
        field(out, "seen", memory(seen));
        field(out, "", tenants(seen));
        seen.reservations().forEach(each -> field(out, "", reservation(each, seen.atNanos())));
        decision().pressure().ifPresent(pressure -> pressure(pressure, seen.atNanos(), out));
        if (!decision().ranking().isEmpty()) {
            out.println();
            ranking(out);
            out.println();
        }
        done(zone, out);
        field(
                out,
                "again",
                reproduced()
                        ? "rules, state and observation of the record give the same decision"
                        : "NOT EQUAL: the record now gives " + VramReplayCommand.word(again.verdict()) + ": "
                                + again.reason());
    }

    private static String memory(GpuObservation seen) {
        if (seen.memory() instanceof Reading.Absent<?> absent) {
            return "memory unknown: " + absent.text();
        }
        return seen.memory()
                .asOptional()
                .map(bytes -> Mib.text(bytes.free()) + " of " + Mib.text(bytes.total()) + " free, "
                        + Mib.text(bytes.used()) + " used, reading " + seen.sequence())
                .orElse("");
    }

    private static String tenants(GpuObservation seen) {
        if (seen.tenants() instanceof Reading.Absent<?> absent) {
            return "tenants unknown: " + absent.text();
        }
        return seen.tenants().asOptional().map(List::size).orElse(0) + " tenants, listed "
                + seconds(seen.atNanos() - seen.tenantsAtNanos()) + " before the reading";
    }

    private static String reservation(Reservation each, long now) {
        return "reservation of " + Mib.text(each.bytes()) + " for " + each.tenant()
                + (each.granted()
                        ? ", of which " + Mib.text(each.unusedBytes()) + " are not allocated"
                        : ", which waits for " + seconds(now - each.sinceNanos()));
    }

    private void pressure(Pressure pressure, long now, PrintWriter out) {
        boolean asked = !decision().seen().reservations().isEmpty();
        field(
                out,
                "floor",
                Mib.text(pressure.floorBytes()) + (pressure.has(Trigger.FLOOR) ? ": breached" : ": not breached"));
        field(
                out,
                "deficit",
                "budgets promise " + Mib.text(pressure.promisedBytes()) + " more"
                        + (pressure.has(Trigger.DEFICIT)
                                ? ", more than was free since " + seconds(now - pressure.deficitSinceNanos())
                                        + "; alone it waits for " + Rule.DEFICIT_GRACE.text(record.rules())
                                : ""));
        field(
                out,
                "demand",
                pressure.starved().isEmpty()
                        ? "no failed allocation is known"
                        : Rule.ATTEMPTS.text(record.rules()) + " failed allocations within "
                                + Rule.ATTEMPTS_WITHIN.text(record.rules())
                                + (asked
                                        ? ", or a reservation that waits for "
                                                + Rule.RESERVATION_WAITS.text(record.rules())
                                        : "")
                                + ": "
                                + String.join(", ", pressure.starved()));
    }

    private void ranking(PrintWriter out) {
        String chosen = decision().recycled().map(Tenant::id).orElse("");
        Table table = new Table("TENANT", "WORKLOAD", "BUDGET", "USED", "OVER", "PRIORITY", "RESULT");
        for (Candidate candidate : decision().ranking()) {
            Tenant tenant = candidate.tenant();
            boolean known = tenant.used().asOptional().isPresent()
                    && tenant.budget().asOptional().isPresent();
            table.row(
                    tenant.name(),
                    tenant.workload(),
                    cell(tenant.budget()),
                    cell(tenant.used()),
                    known ? Mib.text(tenant.overBytes()) : "?",
                    tenant.priority(),
                    tenant.id().equals(chosen)
                            ? Table.styled(Style.BAD, "recycled")
                            : candidate.spared().map(why -> "spared: " + why).orElse("not chosen"));
        }
        table.print(out);
    }

    private void done(ZoneId zone, PrintWriter out) {
        if (decision().verdict() != Verdict.RECYCLE) {
            field(out, "done", "nothing: the verdict leaves all tenants alone");
        } else if (actions.stream().allMatch(action -> action.actuator().equals(ActionRecord.NOTIFY))) {
            field(out, "done", "no recycle is recorded, mode " + record.origin().mode());
        }
        for (ActionRecord action : actions) {
            field(
                    out,
                    "done",
                    ClientTimes.local(action.at(), zone) + " " + action.actuator() + " "
                            + action.outcome().replace('_', ' ') + ": " + action.text());
        }
    }

    private static String cell(Reading<Long> bytes) {
        return bytes.asOptional().map(Mib::text).orElse("?");
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }

    private static void field(PrintWriter out, String name, String value) {
        out.println(name + " ".repeat(Math.max(1, 9 - name.length())) + Table.escape(value));
    }
}
