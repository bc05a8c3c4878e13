package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.testkit.Unchecked;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Demonstrates the checks that give work to GPUs, on a node where one GPU computes wrong and one is slow. */
@Command(
        name = "compute",
        mixinStandardHelpOptions = true,
        description = {
            "Show the checks that give work to GPUs, on a simulated node with eight GPUs.",
            "One GPU computes wrong, and one is held down by heat: both must be named in the report.",
            "Takes ten seconds; `demo` ends with it."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:both GPUs were named, and no other", "1:the report is wrong"})
final class DemoComputeCommand implements Callable<Integer> {

    private static final int WRONG = 5;
    private static final int SLOW = 2;

    @Option(
            names = "--report",
            paramLabel = "FILE",
            description = "The report, a page of HTML. Default: a temporary file, whose path is printed.")
    @Nullable Path report;

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException {
        Path file = report == null ? Unchecked.get(() -> Files.createTempFile("gpuwarden-report-", ".html")) : report;
        return play(spec.commandLine().getOut(), file.toAbsolutePath()) ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    /** Plays the act, and returns whether the report names the two GPUs alone. */
    static boolean play(PrintWriter out, Path report) throws InterruptedException {
        return DemoAct.play("h100x8", Map.of(), out, act -> played(act, report));
    }

    private static boolean played(DemoAct act, Path report) throws InterruptedException {
        act.node().control().set(changes(), false);
        act.print("a node of eight idle GPUs; GPU " + WRONG + " computes wrong in one SM, GPU " + SLOW
                + " is held down by heat");
        int code = act.show("check", "gpumem", "gpu-results", "--local", "--report", report.toString());
        String page = Unchecked.get(() -> Files.size(report) > 0 ? Files.readString(report) : "");
        boolean named = code == ExitCode.NOT_FIT
                && named(page, "FAIL", "gpu-results").equals(List.of(WRONG))
                && named(page, "WARN", "gpu-results").equals(List.of(SLOW))
                && named(page, "WARN", "gpumem").equals(List.of(SLOW));
        act.print(
                named
                        ? "both are named, and no other; the report: " + report
                        : "expected GPU " + WRONG + " and GPU " + SLOW + " in the report " + report);
        return named;
    }

    /** Returns the GPUs that a check complains of in the report, in their order. */
    private static List<Integer> named(String page, String outcome, String check) {
        return Pattern.compile(outcome + "</span></td><td[^>]*>" + check + "</td><td[^>]*>GPU (\\d+) ")
                .matcher(page)
                .results()
                .map(found -> Integer.valueOf(found.group(1)))
                .toList();
    }

    /** Returns the node's differences: no workload, clocks and power of GPUs that work, and the two defects. */
    private static Map<String, String> changes() {
        Map<String, String> changes = new LinkedHashMap<>();
        for (String pid : List.of("41001", "42001", "43001", "44001")) {
            changes.put("process." + pid, "stop");
        }
        changes.put("gpu.all.utilization.gpu", "0%");
        changes.put("gpu.all.clock.sm", "1980MHz");
        changes.put("gpu.all.clock.reasons", "none");
        changes.put("gpu.all.power.usage", "610W");
        changes.put("gpu.all.temperature", "61C");
        changes.put("gpu." + WRONG + ".cuda.wrong.pattern", "bit");
        // The smallest product has work for the first SM too, where a busy machine gets no further.
        changes.put("gpu." + WRONG + ".cuda.wrong.sm", "0");
        changes.put("gpu." + WRONG + ".cuda.wrong.kernel", "wmma_product");
        changes.put("gpu." + SLOW + ".clock.sm", "1020MHz");
        changes.put("gpu." + SLOW + ".clock.reasons", "hw-thermal");
        changes.put("gpu." + SLOW + ".temperature", "88C");
        changes.put("gpu." + SLOW + ".power.usage", "330W");
        changes.put("gpu." + SLOW + ".compute.tensor", "10000");
        changes.put("gpu." + SLOW + ".copy.memory", "100000");
        return changes;
    }
}
