package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.node.NodeFacts;
import dev.gpuwarden.checks.settings.LibrarySettings;
import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.ClassArchive;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.cli.Version;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Capability;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.Refusal;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.view.DriverView;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Reports the driver library, missing functions and their consequences. */
@Command(
        name = "doctor",
        description = "Show the driver library in use, its missing functions and their consequences, its implausible"
                + " answers, and which parts of this node are readable.",
        exitCodeList = {"0:the driver answers", "2:wrong usage or configuration", "3:the driver does not answer"})
public final class DoctorCommand extends NodeCommand {

    private static final String NCCL_REMEDY =
            "install NVIDIA's package libnccl2, run 'pip install nvidia-nccl-cu12', or"
                    + " name the file by --nccl.library-path";

    @Mixin
    LibrarySettings libraries = new LibrarySettings();

    public DoctorCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        Report report = sample(
                sampler -> new Report(sampler.snapshot(), sampler.capabilities(), sampler.refusals(), surroundings()));
        show(report.tree(), report::print);
        return report.exitCode();
    }

    private Map<String, Reading<String>> surroundings() {
        NodeFacts facts = new NodeFacts(paths);
        Map<String, Reading<String>> all = new LinkedHashMap<>();
        all.put("PID namespace", facts.pidNamespace().map(DoctorCommand::namespaceText));
        all.put("cgroups", facts.cgroupVersion());
        all.put("process table", folder(paths.procfs()));
        all.put("PCI devices", folder(paths.sysfs().resolve("bus/pci/devices")));
        all.put("pod logs", folder(paths.podLogs()));
        Reading<ComputeDriver> driver = libraries.compute(sampling).get();
        all.put(
                "CUDA driver",
                driver.map(cuda -> cuda.libraryPath() + ", GPUs: " + cuda.gpus().size()));
        if (driver instanceof Reading.Present<ComputeDriver> present) {
            all.put("cuBLAS", present.value().matrixLibrary());
        }
        all.put("NCCL", nccl());
        all.put("gpuwarden", Reading.of(Version.program()));
        all.put(
                "Java",
                Reading.of(System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version")));
        ClassArchive.ofProcess()
                .ifPresent(
                        archive -> all.put("class archive", Reading.of(archive.inUse() ? "in use" : archive.advice())));
        return all;
    }

    private Reading<String> nccl() {
        Reading<String> library = libraries
                .collectives(sampling)
                .get()
                .map(driver -> driver.libraryPath() + ", version " + driver.versionText());
        return library instanceof Reading.Absent<String> absent
                        && absent.detail().contains("libnccl")
                ? Reading.absent(absent.cause(), absent.code(), absent.detail() + ": " + NCCL_REMEDY)
                : library;
    }

    private static String namespaceText(String namespace) {
        return namespace.equals("host") ? namespace : namespace + ": processes of other containers cannot be named";
    }

    private static Reading<String> folder(Path folder) {
        return NodeFacts.readable(folder).map(yes -> folder + " is readable");
    }

    /**
     * The driver library, missing functions and their consequences.
     *
     * @param surroundings readable parts of the node, by purpose
     */
    record Report(
            NodeSnapshot node,
            List<Capability> capabilities,
            List<Refusal> refusals,
            Map<String, Reading<String>> surroundings) {

        static final String SCHEMA = "gpuwarden.doctor/v1";

        /** Returns the exit code: 3 if the driver does not answer. Missing functions are no failure. */
        int exitCode() {
            return node.driver() instanceof DriverState.Running ? ExitCode.OK : ExitCode.UNDECIDED;
        }

        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("schema", SCHEMA);
            tree.put("driver", DriverView.tree(node.driver()));
            tree.put("gpus", node.gpus().size());
            tree.put(
                    "capabilities",
                    capabilities.stream().map(Report::capability).toList());
            tree.put("refusedAnswers", refusals.stream().map(Report::refusal).toList());
            tree.put(
                    "refusedValues",
                    implausible().stream().map(Implausible::tree).toList());
            Map<String, Object> around = new LinkedHashMap<>();
            surroundings.forEach((name, reading) -> around.put(name, Values.tree(reading)));
            tree.put("surroundings", around);
            return tree;
        }

        private static Map<String, Object> capability(Capability capability) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("symbol", capability.symbol());
            tree.put("feature", capability.feature());
            tree.put("available", capability.available());
            tree.put("note", capability.note());
            return tree;
        }

        private static Map<String, Object> refusal(Refusal refusal) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("function", refusal.function());
            tree.put("subject", refusal.subject());
            tree.put("seen", refusal.seen());
            tree.put("count", refusal.count());
            return tree;
        }

        /** Refused readings of one GPU; {@code readings} names those of the last sample. */
        private record Implausible(String gpu, long count, List<String> readings) {
            String shortened() {
                int shown = Math.min(readings.size(), 4);
                String names = String.join(", ", readings.subList(0, shown));
                return readings.size() > shown ? names + " and " + (readings.size() - shown) + " more" : names;
            }

            Map<String, Object> tree() {
                Map<String, Object> tree = new LinkedHashMap<>();
                tree.put("gpu", gpu);
                tree.put("count", count);
                tree.put("readings", readings);
                return tree;
            }
        }

        private List<Implausible> implausible() {
            List<Implausible> all = new ArrayList<>();
            for (GpuSnapshot gpu : node.gpus()) {
                List<String> labels = new ArrayList<>();
                for (int i = 0; i < GpuMetric.count(); i++) {
                    if (gpu.frame().absence(i) == Absence.IMPLAUSIBLE) {
                        labels.add(GpuMetric.of(i).label());
                    }
                }
                if (gpu.refusedValues() > 0) {
                    all.add(new Implausible(gpu.identity().label(), gpu.refusedValues(), labels));
                }
            }
            return all;
        }

        void print(PrintWriter out) {
            Table facts = new Table("PROPERTY", "VALUE");
            driverFacts(facts);
            surroundings.forEach((name, reading) -> facts.row(name, text(reading)));
            facts.print(out);
            printCapabilities(out);
            printRefusals(out);
        }

        private void driverFacts(Table facts) {
            DriverState state = node.driver();
            if (state instanceof DriverState.Running running) {
                infoFacts(facts, running.info());
            } else if (state instanceof DriverState.Silent silent) {
                infoFacts(facts, silent.info());
                facts.row("trouble", Table.styled(Style.BAD, silent.detail()));
            } else if (state instanceof DriverState.Unavailable none) {
                String reason =
                        none.reason().name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
                String code = none.code() == 0 ? "" : " (code " + none.code() + ")";
                facts.row("driver", Table.styled(Style.BAD, reason + code + ": " + none.detail()));
            } else {
                facts.row("driver", "still being opened");
            }
            facts.row("GPUs of the driver", node.gpus().size());
            facts.row("GPUs on the PCI bus", bus());
        }

        private String bus() {
            if (node.pciGpus() instanceof Reading.Present<List<PciAddress>> present) {
                List<String> texts =
                        present.value().stream().map(PciAddress::toString).toList();
                return texts.isEmpty() ? "none" : texts.size() + ": " + String.join(" ", texts);
            }
            return text(node.pciGpus());
        }

        private static void infoFacts(Table facts, DriverInfo info) {
            facts.row("driver", info.name() + " " + text(info.driverVersion()));
            facts.row("library", text(info.libraryPath()));
            facts.row("library version", text(info.libraryVersion()));
            facts.row("CUDA of the driver", text(info.cudaVersion()));
            facts.row("access path", info.samplerPath());
        }

        private void printCapabilities(PrintWriter out) {
            if (capabilities.isEmpty()) {
                return;
            }
            List<Capability> missing =
                    capabilities.stream().filter(c -> !c.available()).toList();
            out.println();
            out.println(capabilities.size() - missing.size() + " of " + capabilities.size() + " functions are present"
                    + (missing.isEmpty() ? "" : "; missing:"));
            if (!missing.isEmpty()) {
                Table table = new Table("FUNCTION", "CONSEQUENCE", "NOTE");
                missing.forEach(c -> table.row(c.symbol(), c.feature(), c.note()));
                table.print(out);
            }
        }

        private void printRefusals(PrintWriter out) {
            List<Implausible> values = implausible();
            if (refusals.isEmpty() && values.isEmpty()) {
                return;
            }
            out.println();
            out.println("refused answers of the library:");
            Table table = new Table("FUNCTION", "SUBJECT", "VALUE", "COUNT");
            refusals.forEach(r -> table.row(r.function(), r.subject(), r.seen(), r.count()));
            values.forEach(v -> table.row("readings", v.gpu(), v.shortened(), v.count()));
            table.print(out);
        }

        private static <T> String text(Reading<T> reading) {
            return reading instanceof Reading.Absent<T> absent
                    ? absent.text()
                    : reading.asOptional().map(String::valueOf).orElse("");
        }
    }
}
