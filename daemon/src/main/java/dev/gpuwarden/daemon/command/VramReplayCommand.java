package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.daemon.vram.trace.DecisionRecord;
import dev.gpuwarden.daemon.vram.trace.Replay;
import dev.gpuwarden.daemon.vram.trace.Trace;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.Verdict;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows the decisions of the watchdog about a recorded trace. */
@Command(
        name = "replay",
        description = {
            "Show the decisions about a trace of 'gpuwarden vram record', under the default rules or others.",
            "Nothing is recycled. The trace goes on as it was recorded, also after a recycle."
        },
        exitCodeList = {
            "0:done, no tenant would be recycled",
            "1:a tenant would be recycled",
            "2:wrong usage, or the file is no trace",
            "3:no observation of the trace is a basis for a decision"
        })
final class VramReplayCommand extends FileCommand {

    static final String SCHEMA = "gpuwarden.vram-replay/v1";

    private final ZoneId zone;

    @Parameters(paramLabel = "TRACE", description = "File of 'gpuwarden vram record'.")
    Path trace = Path.of("");

    @Option(
            names = "--set",
            paramLabel = "RULE=VALUE",
            description = "Change a rule, for example floor=2GiB; may be repeated. 'gpuwarden vram rules' lists them.")
    Map<String, String> changes = Map.of();

    @Option(names = "--all", description = "Show each decision, not only those with another verdict than before.")
    boolean all;

    VramReplayCommand(ZoneId zone) {
        this.zone = zone;
    }

    @Override
    public Integer call() {
        WatchdogRules rules = WatchdogRules.DEFAULT.with(changes);
        Replay replay = new Replay(rules, all);
        Trace.Header header;
        try (Trace.Reader reader = new Trace.Reader(trace)) {
            header = reader.header();
            replay.run(reader);
        }
        show(tree(header, rules, replay), out -> print(header, replay, out));
        if (!replay.decided()) {
            return ExitCode.UNDECIDED;
        }
        return replay.recycles() == 0 ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    private static Map<String, Object> tree(Trace.Header header, WatchdogRules rules, Replay replay) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("node", header.node());
        tree.put("rules", rules.texts());
        tree.put("gpus", replay.gpus());
        tree.put("observations", replay.observations());
        Map<String, Object> verdicts = new LinkedHashMap<>();
        replay.counts().forEach((verdict, count) -> verdicts.put(word(verdict), count));
        tree.put("verdicts", verdicts);
        tree.put("recycles", replay.recycles());
        List<Object> decisions = new ArrayList<>();
        for (Decision decision : replay.kept()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("at", header.time(decision.seen().atNanos()).toString());
            row.put("recycled", Replay.recycled(decision));
            row.putAll(DecisionRecord.tree(decision));
            decisions.add(row);
        }
        tree.put("decisions", decisions);
        tree.put("leftOut", replay.leftOut());
        return tree;
    }

    private void print(Trace.Header header, Replay replay, PrintWriter out) {
        if (replay.observations() == 0) {
            out.println("the trace has no observation");
            return;
        }
        Table table = new Table("TIME", "GPU", "VERDICT", "TENANT", "REASON");
        for (Decision decision : replay.kept()) {
            table.row(
                    ClientTimes.local(header.time(decision.seen().atNanos()), zone),
                    decision.seen().gpu(),
                    Table.styled(style(decision.verdict()), word(decision.verdict())),
                    Replay.recycled(decision),
                    decision.reason());
        }
        table.print(out);
        out.println();
        if (replay.leftOut() > 0) {
            out.println(replay.leftOut() + " further decisions are not shown");
        }
        out.println(replay.observations() + " observations of " + replay.gpus() + " GPU"
                + (replay.gpus() == 1 ? "" : "s") + ": "
                + replay.counts().entrySet().stream()
                        .map(of -> of.getValue() + " " + word(of.getKey()))
                        .collect(Collectors.joining(", ")));
    }

    static Style style(Verdict verdict) {
        return switch (verdict) {
            case CALM -> Style.GOOD;
            case RECYCLE, NOT_RELEASED -> Style.BAD;
            default -> Style.WARNING;
        };
    }

    static String word(Verdict verdict) {
        return verdict.name().toLowerCase(Locale.ROOT);
    }
}
