package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.cli.ConsoleWriter;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.command.VramReport.By;
import dev.gpuwarden.daemon.vram.VramView;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Reads which processes hold the memory of each GPU, once or until it is interrupted. It adds budgets and decisions if a daemon
 * with the VRAM watchdog answers.
 */
@Command(
        name = "top",
        description = {
            "Show the holders of each GPU's memory, the largest first.",
            "If a daemon watches budgets, also each tenant's budget and the last decision about each GPU."
        },
        exitCodeList = {
            "0:known for every GPU, or the reader of the output has gone",
            "2:wrong usage or configuration",
            "3:no driver, or a GPU whose processes cannot be listed"
        })
final class VramTopCommand extends NodeCommand {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** To the first column of the first line, and erase the rest of the screen. */
    private static final String CLEAR = "\u001b[H\u001b[J";

    @Option(
            names = "--by",
            defaultValue = "pod",
            paramLabel = "WHAT",
            description = "Kind of holder in a row: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})."
                    + " Processes outside a pod or container are listed individually.")
    By by = By.pod;

    @Option(
            names = "--watch",
            description = "Show it again each second until Ctrl-C, in place on a terminal. Processes are listed each"
                    + " --sampling.process-interval. With -o json, one object per line.")
    boolean watch;

    @Mixin
    ClientOptions client = new ClientOptions();

    VramTopCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        try (BudgetClient budgets = BudgetClient.of(client.socket())) {
            NodeMemory memory = new NodeMemory(new ProcessOwners(paths));
            if (watch) {
                return sample(sampler -> follow(sampler, memory, budgets));
            }
            NodeSnapshot node = sample(NodeSampler::snapshot);
            VramReport report = new VramReport(by, node, memory.attribute(node));
            List<VramView> watched = budgets.ask(this::note);
            show(tree(report, watched), out -> print(out, report, watched));
            return report.complete() ? ExitCode.OK : ExitCode.UNDECIDED;
        }
    }

    /** Prints until the output has no reader. */
    private Integer follow(NodeSampler sampler, NodeMemory memory, BudgetClient budgets) {
        PrintWriter out = spec.commandLine().getOut();
        progress().clear();
        while (!out.checkError()) {
            NodeSnapshot node = sampler.snapshot();
            VramReport report = new VramReport(by, node, memory.attribute(node));
            List<VramView> watched = budgets.ask(this::note);
            switch (output.format()) {
                case json -> out.println(Output.jsonLine(tree(report, watched)));
                case yaml -> out.print("---\n" + Output.yaml(tree(report, watched)));
                case table -> {
                    out.print(ConsoleWriter.terminal(out) ? CLEAR : "\n");
                    print(out, report, watched);
                }
            }
            out.flush();
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return ExitCode.OK;
    }

    static Map<String, Object> tree(VramReport report, List<VramView> budgets) {
        Map<String, Object> tree = new LinkedHashMap<>(report.tree());
        if (!budgets.isEmpty()) {
            tree.put("budgets", budgets.stream().map(VramView::tree).toList());
        }
        return tree;
    }

    private static void print(PrintWriter out, VramReport report, List<VramView> budgets) {
        report.print(out);
        new BudgetTable(budgets, Instant.now()).print(out);
    }
}
