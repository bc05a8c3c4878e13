package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.ListVramBudgetsRequest;
import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.ByteSizes;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.daemon.grpc.NodeClient;
import dev.gpuwarden.daemon.grpc.VramMessages;
import dev.gpuwarden.daemon.vram.VramView;
import dev.gpuwarden.daemon.vram.VramView.Row;
import dev.gpuwarden.daemon.vram.WhatIf;
import dev.gpuwarden.daemon.vram.WhatIf.Answer;
import dev.gpuwarden.watchdog.budget.PodBudget.Amount;
import dev.gpuwarden.watchdog.budget.PodBudget.State;
import java.io.InputStream;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the effect of one more tenant on each GPU of this node. */
@Command(
        name = "whatif",
        description = {
            "Show which GPU of this node has room for one more tenant, who would starve, and who would have to give memory back.",
            "It asks the daemon for its last decisions. Nothing starts, and nothing is reserved."
        },
        exitCodeList = {
            "0:it fits on a GPU now",
            "1:it fits on no GPU now",
            "2:wrong usage, or a file that is no manifest with a budget",
            "3:the daemon does not answer, or has no watchdog, or a GPU without an answer may have room"
        })
final class VramWhatifCommand extends ClientCommand {

    static final String SCHEMA = "gpuwarden.vram-whatif/v1";

    @Mixin
    final ManifestFiles manifests;

    @ArgGroup(multiplicity = "1")
    Added added = new Added();

    /** The tenant that is added. */
    static final class Added {
        @Option(
                names = "--add",
                paramLabel = "FILE",
                description = "Manifest of one pod or workload with a budget, - for standard input.")
        @Nullable String file;

        @Option(
                names = "--size",
                paramLabel = "SIZE",
                converter = ByteSizes.class,
                description = "Budget of the tenant, such as 5GiB.")
        @Nullable Long bytes;
    }

    /** A GPU and the effect on it. */
    private record Line(VramView gpu, Reading<WhatIf> effect) {}

    VramWhatifCommand(Supplier<InputStream> standardInput) {
        manifests = new ManifestFiles(standardInput);
    }

    @Override
    int ask(NodeClient node) {
        long bytes = bytes();
        List<Line> lines =
                VramMessages.fromWire(queries(node).listVramBudgets(ListVramBudgetsRequest.getDefaultInstance()))
                        .stream()
                        .map(gpu -> new Line(gpu, WhatIf.of(gpu, bytes)))
                        .toList();
        if (lines.isEmpty()) {
            complain("the daemon watches no VRAM budgets; see --vram.budgets, --vram.pods and --vram.mode");
            return ExitCode.UNDECIDED;
        }
        show(tree(bytes, lines), out -> print(bytes, lines, out));
        if (lines.stream().anyMatch(line -> is(line, Answer.FITS))) {
            return ExitCode.OK;
        }
        return lines.stream().allMatch(line -> line.effect.asOptional().isPresent())
                ? ExitCode.NOT_FIT
                : ExitCode.UNDECIDED;
    }

    private static boolean is(Line line, Answer answer) {
        return line.effect
                .asOptional()
                .filter(effect -> effect.answer() == answer)
                .isPresent();
    }

    private long bytes() {
        if (added.bytes != null) {
            return added.bytes;
        }
        String file = Optional.ofNullable(added.file).orElseThrow();
        List<Amount> budgets = manifests.read(List.of(file)).workloads().stream()
                .map(workload -> workload.pod().budget(workload.label()).total())
                .filter(amount -> amount.state() != State.NONE)
                .toList();
        if (budgets.size() != 1) {
            throw new UserError(Table.escape(file) + ": expected one workload with " + manifests.resource + ", seen "
                    + budgets.size());
        }
        if (budgets.get(0).bytes() instanceof Reading.Absent<Long> none) {
            throw new UserError(Table.escape(file) + ": " + Table.escape(none.detail()));
        }
        return budgets.get(0).bytes().asOptional().orElseThrow();
    }

    private static Map<String, Object> tree(long bytes, List<Line> lines) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("bytes", bytes);
        tree.put("gpus", lines.stream().map(VramWhatifCommand::tree).toList());
        return tree;
    }

    private static Map<String, Object> tree(Line line) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("gpu", line.gpu.index());
        tree.put("uuid", Values.tree(line.gpu.uuid()));
        tree.put("effect", Values.tree(line.effect, VramWhatifCommand::tree));
        return tree;
    }

    private static Map<String, Object> tree(WhatIf effect) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("answer", effect.answer().name().toLowerCase(Locale.ROOT));
        tree.put("nowBytes", effect.nowBytes());
        tree.put("byBudgetsBytes", effect.byBudgetsBytes());
        tree.put("givers", effect.givers().stream().map(Row::id).toList());
        tree.put("starved", effect.starved().stream().map(Row::id).toList());
        return tree;
    }

    private static void print(long bytes, List<Line> lines, PrintWriter out) {
        out.println("One more tenant with " + Mib.text(bytes) + ":");
        out.println();
        Table table = new Table("GPU", "ROOM NOW", "ROOM BY BUDGETS", "RESULT", "WOULD STARVE NOW");
        for (Line line : lines) {
            if (line.effect instanceof Reading.Absent<WhatIf> none) {
                table.row(line.gpu.index(), "", "", Table.styled(Style.FAINT, "unknown: " + none.detail()), "");
                continue;
            }
            WhatIf effect = line.effect.asOptional().orElseThrow();
            table.row(
                    line.gpu.index(),
                    Mib.text(effect.nowBytes()),
                    Mib.text(effect.byBudgetsBytes()),
                    Table.styled(style(effect), words(effect)),
                    names(effect.starved(), Row::name));
        }
        table.print(out);
    }

    private static Style style(WhatIf effect) {
        return switch (effect.answer()) {
            case FITS -> Style.GOOD;
            case LATER -> Style.WARNING;
            case NO_ROOM -> Style.BAD;
        };
    }

    private static String words(WhatIf effect) {
        return switch (effect.answer()) {
            case FITS -> "fits now";
            case NO_ROOM -> "no room beside the present budgets";
            case LATER ->
                effect.givers().isEmpty()
                        ? "not now: memory without a budget is in the way"
                        : "when back within budget: "
                                + names(
                                        effect.givers(),
                                        row -> row.name() + " (over by "
                                                + Mib.text(
                                                        row.over().asOptional().orElse(0L))
                                                + ")");
        };
    }

    private static String names(List<Row> rows, Function<Row, String> text) {
        return rows.stream().map(text).collect(Collectors.joining(", "));
    }
}
