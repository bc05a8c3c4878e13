package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ByteSizes;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.daemon.vram.Manifests;
import dev.gpuwarden.watchdog.lint.LintRules;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Reads manifests and prints the faults of their budgets. Reads neither a GPU nor a cluster. */
@Command(
        name = "lint",
        mixinStandardHelpOptions = true,
        description = {
            "Find faults of GPU memory budgets in Kubernetes manifests.",
            "Reads YAML and JSON: several documents, lists, the output of kubectl get -o yaml."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:no fault",
            "1:a budget that is refused, or whose pods never run; with --strict each finding",
            "2:wrong usage, or a file that is no manifest",
            "3:an object has the resource, and its pods are not read"
        })
final class VramLintCommand implements Callable<Integer> {

    @Mixin
    final ManifestFiles manifests;

    @Mixin
    Output output = new Output();

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Manifests, - for standard input.")
    List<String> files = List.of();

    @Option(
            names = "--largest-card",
            paramLabel = "SIZE",
            converter = ByteSizes.class,
            description =
                    "Memory for budgets of the largest card in the cluster, for example 13374MiB: what a node with"
                            + " this card alone advertises. Default: unknown, and nothing is compared with it.")
    Optional<Long> largestCard = Optional.empty();

    @Option(
            names = "--used",
            paramLabel = "NAMESPACE/NAME=SIZE",
            description =
                    "Measured use of a workload's pod, for example media/immich=6996MiB. May be given several times.")
    List<String> used = List.of();

    @Option(names = "--strict", description = "Exit with 1 for a warning too.")
    boolean strict;

    @Spec
    CommandSpec spec = CommandSpec.create();

    VramLintCommand(Supplier<InputStream> standardInput) {
        manifests = new ManifestFiles(standardInput);
    }

    @Override
    public Integer call() {
        LintRules rules = new LintRules(manifests.resource, largestCard, measured());
        Manifests read = manifests.read(files);
        VramLintReport report = new VramLintReport(rules, read.workloads(), read.unread());
        output.write(spec.commandLine().getOut(), report.tree(), report::print);
        return !report.clean(strict) ? ExitCode.NOT_FIT : report.unread().isEmpty() ? ExitCode.OK : ExitCode.UNDECIDED;
    }

    private Map<String, Long> measured() {
        Map<String, Long> measured = new LinkedHashMap<>();
        for (String text : used) {
            int at = text.lastIndexOf('=');
            if (at < 0 || !text.substring(0, at).matches("[^/]+/[^/]+")) {
                throw new UserError("--used: expected namespace/name=size, such as media/immich=6996MiB, seen '"
                        + Table.escape(text) + "'");
            }
            try {
                measured.put(text.substring(0, at), ByteSizes.parse(text.substring(at + 1)));
            } catch (TypeConversionException e) {
                throw new UserError("--used " + Table.escape(text) + ": " + e.getMessage());
            }
        }
        return measured;
    }
}
