package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.daemon.vram.trace.ActionRecord;
import dev.gpuwarden.daemon.vram.trace.DecisionRecord;
import dev.gpuwarden.daemon.vram.trace.Records;
import dev.gpuwarden.daemon.vram.trace.Replay;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Explains a recorded decision of the watchdog, and takes it again. */
@Command(
        name = "explain",
        description = {
            "Explain the last recorded recycle: the readings, the rules, each tenant, and what was done.",
            "The decision is taken again from its record, to prove that nothing else went into it."
        },
        exitCodeList = {
            "0:the record gives the same decision again",
            "1:the record gives another decision",
            "2:wrong usage, or a file of records cannot be read",
            "3:no such decision is recorded"
        })
final class VramExplainCommand extends FileCommand {

    static final String SCHEMA = "gpuwarden.vram-explanation/v1";

    static final String LIST_SCHEMA = "gpuwarden.vram-decisions/v1";

    private static final Duration SOON = Duration.ofHours(1);

    private final ZoneId zone;

    @Parameters(
            arity = "0..1",
            paramLabel = "RECORDS",
            description =
                    "File of records (default: the one beside the event store, with -vram.jsonl in place of .db).")
    @Nullable Path records;

    @Option(names = "--last", description = "Explain the last decision, also one that recycles no tenant.")
    boolean last;

    @Option(names = "--gpu", paramLabel = "UUID", description = "Regard the decisions of this GPU alone.")
    @Nullable String gpu;

    @Option(names = "--list", description = "List the recorded decisions in place of explaining one.")
    boolean list;

    @Option(
            names = "--sequence",
            paramLabel = "NUMBER",
            description = "Explain the last decision about this reading; --list shows the numbers.")
    @Nullable Long sequence;

    @Option(
            names = "--store.path",
            defaultValue = "/var/lib/gpuwarden/events.db",
            paramLabel = "FILE",
            description = "File of the daemon's event store (default: ${DEFAULT-VALUE}).")
    Path store = Path.of("");

    VramExplainCommand(ZoneId zone) {
        this.zone = zone;
    }

    @Override
    public Integer call() {
        Path file = Optional.ofNullable(records)
                .or(() -> StoreSettings.at(store).decisionsFile())
                .orElseThrow(() -> new UserError("RECORDS: expected a file, since --store.path is :memory:"));
        List<ActionRecord> actions = new ArrayList<>();
        Map<Object, DecisionRecord> decisions = new LinkedHashMap<>();
        Predicate<DecisionRecord> wanted = wanted();
        Records.read(
                file,
                record -> {
                    if (wanted.test(record)) {
                        decisions.put(name(record), record);
                    }
                },
                actions::add,
                wrong -> {
                    throw wrong;
                });
        return list ? list(decisions) : explain(file, decisions, actions);
    }

    /** A decision that both files have counts once. */
    private static Object name(DecisionRecord record) {
        return List.of(
                record.at(),
                record.decision().seen().gpu(),
                record.decision().seen().sequence());
    }

    private Predicate<DecisionRecord> wanted() {
        return record -> (gpu == null || record.decision().seen().gpu().equals(gpu))
                && (sequence == null || record.decision().seen().sequence() == sequence)
                && (last || list || sequence != null || record.decision().verdict() == Verdict.RECYCLE);
    }

    private int list(Map<Object, DecisionRecord> decisions) {
        Table table = new Table("TIME", "GPU", "SEQUENCE", "VERDICT", "TENANT", "REASON");
        List<Object> rows = new ArrayList<>();
        for (DecisionRecord record : decisions.values()) {
            Decision decision = record.decision();
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("at", record.at().toString());
            row.put("gpu", decision.seen().gpu());
            row.put("sequence", decision.seen().sequence());
            row.put("verdict", VramReplayCommand.word(decision.verdict()));
            row.put("recycled", Replay.recycled(decision));
            row.put("reason", decision.reason());
            rows.add(row);
            table.row(
                    ClientTimes.local(record.at(), zone),
                    decision.seen().gpu(),
                    decision.seen().sequence(),
                    Table.styled(
                            VramReplayCommand.style(decision.verdict()), VramReplayCommand.word(decision.verdict())),
                    Replay.recycled(decision),
                    decision.reason());
        }
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", LIST_SCHEMA);
        tree.put("decisions", rows);
        show(tree, table::print);
        return ExitCode.OK;
    }

    private int explain(Path file, Map<Object, DecisionRecord> decisions, List<ActionRecord> actions) {
        DecisionRecord newest = null;
        for (DecisionRecord record : decisions.values()) {
            newest = record;
        }
        if (newest == null) {
            spec.commandLine()
                    .getErr()
                    .println(
                            "gpuwarden: " + file + " has no such decision; 'gpuwarden vram explain --list' shows them");
            return ExitCode.UNDECIDED;
        }
        DecisionRecord record = newest;
        VramExplanation explanation = VramExplanation.of(
                record,
                actions.stream().filter(action -> follows(action, record)).toList());
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.putAll(explanation.tree());
        tree.put("schema", SCHEMA);
        show(tree, out -> explanation.print(zone, out));
        return explanation.reproduced() ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    /** Sequence numbers begin again with each daemon, so that an action must also follow soon. */
    private static boolean follows(ActionRecord action, DecisionRecord record) {
        GpuObservation seen = record.decision().seen();
        return action.gpu().equals(seen.gpu())
                && action.sequence() == seen.sequence()
                && !action.at().isBefore(record.at())
                && action.at().isBefore(record.at().plus(SOON));
    }
}
