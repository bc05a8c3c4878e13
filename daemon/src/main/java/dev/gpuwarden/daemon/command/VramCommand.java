package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.cli.VramGroup;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.holders.GpuHolderLookup;
import java.io.PrintWriter;
import java.time.Clock;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The daemon's commands about GPU memory and its holders. */
public final class VramCommand {

    private VramCommand() {}

    /** Returns the command with its subcommands. */
    public static CommandLine with(Supplier<DriverProvider> provider) {
        return new CommandLine(new VramGroup())
                .addSubcommand(new VramTopCommand(provider))
                .addSubcommand(new Holders(provider))
                .addSubcommand(new VramAuditCommand(() -> System.in))
                .addSubcommand(new VramExplainCommand(ZoneId.systemDefault()))
                .addSubcommand(new VramRecordCommand(provider, ShutdownSignal.onSignal()))
                .addSubcommand(new VramReserveCommand())
                .addSubcommand(new VramReplayCommand(ZoneId.systemDefault()))
                .addSubcommand(new VramRulesCommand())
                .addSubcommand(new VramLintCommand(() -> System.in))
                .addSubcommand(new VramWhatifCommand(() -> System.in));
    }

    /** Queries the kubelet once for the pods that have each GPU. */
    @Command(
            name = "holders",
            description = "Show the pods to which the kubelet assigned each GPU, whether or not they use it.",
            exitCodeList = {
                "0:known for every GPU",
                "2:wrong usage or configuration",
                "3:the kubelet does not answer, or a pod has a device that matches no GPU"
            })
    public static final class Holders extends NodeCommand {

        Holders(Supplier<DriverProvider> provider) {
            super(provider);
        }

        @Override
        public Integer call() {
            NodeSnapshot node = sample(NodeSampler::snapshot);
            HoldersReport report = new HoldersReport(
                    node,
                    new GpuHolderLookup(
                                    paths.podResources(),
                                    () -> node,
                                    GpuHolderLookup.COMMAND_PATIENCE,
                                    Clock.systemUTC())
                            .get());
            show(report.tree(), report::print);
            return report.complete() ? ExitCode.OK : ExitCode.UNDECIDED;
        }
    }

    /** The pods that have each GPU. */
    record HoldersReport(NodeSnapshot node, Reading<GpuHolders> answer) {

        boolean complete() {
            return answer instanceof Reading.Present<GpuHolders> holders
                    && holders.value().complete();
        }

        List<GpuHolder> holders() {
            return answer.asOptional().map(GpuHolders::holders).orElse(List.of());
        }

        List<UnresolvedDevice> unresolved() {
            return answer.asOptional().map(GpuHolders::unresolved).orElse(List.of());
        }

        /**
         * Returns the holders by UUID: the node's GPUs in the driver's order, then GPUs that pods have and the driver does
         * not list.
         */
        Map<String, List<GpuHolder>> byGpu() {
            Map<String, List<GpuHolder>> byGpu = new LinkedHashMap<>();
            node.gpus().forEach(gpu -> byGpu.put(gpu.identity().selector(), new ArrayList<>()));
            holders()
                    .forEach(holder -> byGpu.computeIfAbsent(holder.gpuUuid(), unknown -> new ArrayList<>())
                            .add(holder));
            return byGpu;
        }

        /** Returns the driver's index; empty for a GPU that it does not list. */
        String index(String uuid) {
            return node.gpus().stream()
                    .map(gpu -> gpu.identity())
                    .filter(gpu -> gpu.selector().equals(uuid))
                    .findFirst()
                    .map(GpuIdentity::index)
                    .map(String::valueOf)
                    .orElse("");
        }

        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("complete", complete());
            tree.put("asOf", Values.tree(answer, holders -> holders.asOf().toString()));
            List<Object> gpus = new ArrayList<>();
            byGpu().forEach((uuid, holders) -> {
                Map<String, Object> gpu = new LinkedHashMap<>();
                String index = index(uuid);
                if (!index.isEmpty()) {
                    gpu.put("index", Integer.parseInt(index));
                }
                gpu.put("uuid", uuid);
                gpu.put(
                        "holders",
                        Values.tree(
                                answer,
                                found -> holders.stream()
                                        .map(HoldersReport::tree)
                                        .toList()));
                gpus.add(gpu);
            });
            tree.put("gpus", gpus);
            tree.put(
                    "unresolved", unresolved().stream().map(HoldersReport::tree).toList());
            return tree;
        }

        static String kind(GpuHolder holder) {
            return holder.kind().name().toLowerCase(Locale.ROOT);
        }

        private static Map<String, Object> tree(GpuHolder holder) {
            Map<String, Object> tree = container(holder.namespace(), holder.pod(), holder.container());
            tree.put("kind", kind(holder));
            tree.put("deviceId", holder.deviceId());
            return tree;
        }

        private static Map<String, Object> tree(UnresolvedDevice device) {
            Map<String, Object> tree = container(device.namespace(), device.pod(), device.container());
            tree.put("resource", device.resource());
            tree.put("deviceId", device.deviceId());
            tree.put("why", device.why());
            return tree;
        }

        private static Map<String, Object> container(String namespace, String pod, String container) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("namespace", namespace);
            tree.put("pod", pod);
            tree.put("container", container);
            return tree;
        }

        void print(PrintWriter out) {
            if (answer instanceof Reading.Absent<?> absent) {
                out.println("unknown: " + absent.text());
                return;
            }
            Table table = new Table("GPU", "UUID", "POD", "CONTAINER", "KIND", "DEVICE");
            byGpu().forEach((uuid, holders) -> {
                if (holders.isEmpty()) {
                    table.row(index(uuid), uuid, Table.styled(Style.FAINT, "none"), "", "", "");
                }
                for (GpuHolder holder : holders) {
                    table.row(
                            index(uuid),
                            uuid,
                            holder.namespace() + "/" + holder.pod(),
                            holder.container(),
                            HoldersReport.kind(holder),
                            holder.deviceId().equals(uuid) ? "" : holder.deviceId());
                }
            });
            table.print(out);
            if (!unresolved().isEmpty()) {
                out.println();
                Table unknown = new Table("POD", "CONTAINER", "RESOURCE", "DEVICE", "WHY ITS GPU IS UNKNOWN");
                for (UnresolvedDevice device : unresolved()) {
                    unknown.row(
                            device.namespace() + "/" + device.pod(),
                            device.container(),
                            device.resource(),
                            device.deviceId(),
                            device.why());
                }
                unknown.print(out);
            }
        }
    }
}
