package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.ByteSizes;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.daemon.vram.audit.BudgetAudit;
import dev.gpuwarden.daemon.vram.audit.BudgetPatch;
import dev.gpuwarden.daemon.vram.audit.Fault;
import dev.gpuwarden.daemon.vram.audit.WorkloadUse;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.daemon.vram.trace.ObservationFile;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** Compares budgets with measured use. */
@Command(
        name = "audit",
        description = {
            "Compare budgets with the use in a trace of 'gpuwarden vram record', or in records of decisions.",
            "Percentiles are of the readings in which a workload held memory. A proposed budget is p95 and a tenth."
        },
        exitCodeList = {
            "0:no fault",
            "1:a budget or a setting contradicts the measured use; with --patch a workload without a patch",
            "2:wrong usage, or the file cannot be read",
            "3:no use was measured"
        })
final class VramAuditCommand extends FileCommand {

    static final String SCHEMA = "gpuwarden.vram-audit/v1";

    @Mixin
    final ManifestFiles manifests;

    @Parameters(paramLabel = "FILE", description = "A trace, or records of decisions.")
    Path file = Path.of("");

    @Option(
            names = "--advertised",
            paramLabel = "SIZE",
            converter = ByteSizes.class,
            description = "Memory that the node advertises to a scheduler, for example 14000MiB.")
    @Nullable Long advertised;

    @Option(
            names = "--assumed",
            paramLabel = "NAME=SIZE",
            description = "Size of the card that another program assumes, for example gate=16384MiB; may be repeated.")
    Map<String, String> assumed = Map.of();

    @Option(
            names = "--set",
            paramLabel = "RULE=VALUE",
            description = "Change a rule, for example floor=2GiB; may be repeated. 'gpuwarden vram rules' lists them.")
    Map<String, String> changes = Map.of();

    @Option(
            names = "--patch",
            paramLabel = "MANIFEST",
            description = "Write the proposed budgets as patches of a kustomization for these manifests, - for standard"
                    + " input; may be repeated.")
    List<String> patched = List.of();

    VramAuditCommand(Supplier<InputStream> standardInput) {
        manifests = new ManifestFiles(standardInput);
    }

    @Override
    public Integer call() {
        BudgetAudit audit = new BudgetAudit(WatchdogRules.DEFAULT.with(changes));
        ObservationFile.read(file, audit::add);
        List<WorkloadUse> uses = audit.uses();
        if (!patched.isEmpty()) {
            return patches(uses);
        }
        List<Fault> faults = audit.faults(Optional.ofNullable(advertised), sizes());
        show(tree(uses, faults), out -> print(uses, faults, out));
        if (uses.stream().allMatch(use -> use.samples() == 0)) {
            return ExitCode.UNDECIDED;
        }
        return faults.isEmpty() ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    private int patches(List<WorkloadUse> uses) {
        List<BudgetPatch> patches = BudgetPatch.of(uses, manifests.read(patched).workloads(), manifests.resource);
        show(VramPatches.tree(patches), out -> VramPatches.print(patches, out));
        if (patches.isEmpty()) {
            return ExitCode.UNDECIDED;
        }
        return patches.stream().allMatch(patch -> patch.object() instanceof Reading.Present<?>)
                ? ExitCode.OK
                : ExitCode.NOT_FIT;
    }

    private Map<String, Long> sizes() {
        Map<String, Long> sizes = new LinkedHashMap<>();
        assumed.forEach((name, size) -> {
            try {
                sizes.put(name, ByteSizes.parse(size));
            } catch (TypeConversionException e) {
                throw new UserError("--assumed " + name + ": " + e.getMessage());
            }
        });
        return sizes;
    }

    private static Map<String, Object> tree(List<WorkloadUse> uses, List<Fault> faults) {
        List<Object> workloads = new ArrayList<>();
        for (WorkloadUse use : uses) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("gpu", use.gpu());
            row.put("workload", use.workload());
            row.put("budgetBytes", Values.tree(use.budget()));
            row.put("samples", use.samples());
            row.put("p50Bytes", use.p50Bytes());
            row.put("p95Bytes", use.p95Bytes());
            row.put("largestBytes", use.largestBytes());
            row.put("proposedBytes", use.proposedBytes());
            workloads.add(row);
        }
        List<Object> found = new ArrayList<>();
        for (Fault fault : faults) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("kind", word(fault));
            row.put("subject", fault.subject());
            row.put("text", fault.text());
            found.add(row);
        }
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("workloads", workloads);
        tree.put("faults", found);
        return tree;
    }

    private static void print(List<WorkloadUse> uses, List<Fault> faults, PrintWriter out) {
        if (uses.isEmpty()) {
            out.println("no use was measured: the file has no reading with memory and tenants");
            return;
        }
        Table table = new Table("GPU", "WORKLOAD", "BUDGET", "P50", "P95", "LARGEST", "PROPOSED");
        for (WorkloadUse use : uses) {
            boolean measured = use.samples() > 0;
            table.row(
                    use.gpu(),
                    use.workload(),
                    use.budget().asOptional().map(Mib::text).orElse("none"),
                    measured ? Mib.text(use.p50Bytes()) : "",
                    measured ? Mib.text(use.p95Bytes()) : "",
                    measured ? Mib.text(use.largestBytes()) : "not seen",
                    measured ? Mib.text(use.proposedBytes()) : "");
        }
        table.print(out);
        out.println();
        if (faults.isEmpty()) {
            out.println("no fault found");
            return;
        }
        Table found = new Table("FAULT", "SUBJECT", "EXPECTED AND SEEN");
        faults.forEach(fault -> found.row(Table.styled(Style.BAD, word(fault)), fault.subject(), fault.text()));
        found.print(out);
    }

    private static String word(Fault fault) {
        return fault.kind().name().toLowerCase(Locale.ROOT);
    }
}
