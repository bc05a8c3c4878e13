package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.scenario.KernelStorm;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.scenario.SimGpu;
import dev.gpuwarden.testkit.scenario.Vocabulary;
import dev.gpuwarden.testkit.sim.NativeFiles;
import dev.gpuwarden.testkit.sim.NodeControl;
import dev.gpuwarden.testkit.sim.RunningNodes;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Simulated GPUs for any program. */
@Command(
        name = "sim",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = {
            "Simulated GPUs for any program.",
            "A scenario is a name from `sim list`, or the path of a YAML file of your own."
        },
        subcommands = {
            SimCommand.ListScenarios.class,
            SimShowCommand.class,
            SimExecCommand.class,
            SimCommand.Set.class,
            SimUseCommand.class,
            SimCommand.Log.class,
            SimCommand.Validate.class
        })
final class SimCommand {

    /** Lists the built-in scenarios. */
    @Command(name = "list", mixinStandardHelpOptions = true, description = "List the built-in scenarios.")
    static final class ListScenarios implements Callable<Integer> {

        @Mixin
        Output output = new Output();

        @Spec
        CommandSpec spec = CommandSpec.create();

        @Override
        public Integer call() {
            Vocabulary vocabulary = NativeFiles.find().vocabulary();
            List<Scenario> scenarios = Scenarios.names().stream()
                    .map(name -> Scenarios.find(name, vocabulary))
                    .toList();
            Table table = new Table("NAME", "DRIVER", "GPUS", "DESCRIPTION");
            scenarios.forEach(s -> table.row(s.name(), s.driver().label(), boards(s), s.description()));
            output.write(
                    spec.commandLine().getOut(),
                    scenarios.stream().map(ListScenarios::tree).toList(),
                    table::print);
            return ExitCode.OK;
        }

        private static Map<String, Object> tree(Scenario scenario) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("name", scenario.name());
            tree.put("description", scenario.description());
            tree.put("driver", scenario.driver().label());
            tree.put("driverInferred", scenario.driver().inferred());
            tree.put(
                    "gpus",
                    scenario.gpus().stream().map(gpu -> gpu.board().name()).toList());
            tree.put("processes", scenario.processes().size());
            tree.put("timelineSteps", scenario.timeline().size());
            return tree;
        }

        /** Returns for example "8 h100-sxm5-80gb", or "none". */
        private static String boards(Scenario scenario) {
            Map<String, Long> counts = scenario.gpus().stream()
                    .map(SimGpu::board)
                    .collect(Collectors.groupingBy(board -> board.name(), LinkedHashMap::new, Collectors.counting()));
            return counts.isEmpty()
                    ? "none"
                    : counts.entrySet().stream()
                            .map(e -> e.getValue() + " " + e.getKey())
                            .collect(Collectors.joining(", "));
        }
    }

    /** Changes a simulated node that runs. */
    @Command(
            name = "set",
            mixinStandardHelpOptions = true,
            description = {
                "Change a simulated node while programs use it. All changes take effect in one step.",
                "KEY is a key of a scenario's `set`; all keys are in `sim show SCENARIO -o yaml`:",
                "  gpu.3.temperature=91C     gpu.3.state=lost       gpu.all.clock.reasons=hw-slowdown",
                "  gpu.3.xid=79              gpu.3.nvlink.5.state=down   gpu.3.nvlink.5.recoveries=+3",
                "  gpu.3.reset=yes           node.reboot=yes",
                "  fault.slow='{gpu: 2, function: nvmlDeviceGetPowerUsage, delay: 3s}'   fault.slow=clear",
                "  process.4242.bytes=30GiB  process.4242=stop"
            })
    static final class Set implements Callable<Integer> {

        @Mixin
        NodeOption which = new NodeOption();

        @Option(names = "--no-log", description = "Write nothing to the node's kernel log, unlike hardware.")
        boolean silent;

        @Parameters(paramLabel = "KEY=VALUE", arity = "1..*", description = "The changes.")
        List<String> changes = List.of();

        @Spec
        CommandSpec spec = CommandSpec.create();

        @Override
        public Integer call() {
            Map<String, String> byKey = new LinkedHashMap<>();
            for (String change : changes) {
                int equals = change.indexOf('=');
                if (equals < 1) {
                    throw new UserError("\"" + change + "\": expected KEY=VALUE");
                }
                byKey.put(change.substring(0, equals), change.substring(equals + 1));
            }
            NodeControl.open(which.root()).set(byKey, !silent);
            byKey.forEach((key, value) -> spec.commandLine().getOut().println(key + "=" + value));
            return ExitCode.OK;
        }
    }

    /** Writes to the kernel log of a simulated node that runs. */
    @Command(
            name = "log",
            mixinStandardHelpOptions = true,
            description = {
                "Write lines to the kernel log of a simulated node, as lines of its kernel.",
                "{gpu.3} is that GPU's PCI address as the driver prints it, {uuid.3} its UUID, {n} the line's number:",
                "  gpuwarden sim log 'NVRM: Xid (PCI:{gpu.3}): 31, pid=4711, name=python3, Ch 00000008'",
                "  gpuwarden sim log --user 'GPU reset occurred: {uuid.3}'",
                "  gpuwarden sim log --count 10000 --per-second 1000 'NVRM: Xid (PCI:{gpu.3}): 31, pid={n}, name=a'"
            })
    static final class Log implements Callable<Integer> {

        @Mixin
        NodeOption which = new NodeOption();

        @Option(names = "--user", description = "Write as a process that writes to /dev/kmsg, not as the kernel.")
        boolean user;

        @Option(
                names = "--count",
                paramLabel = "N",
                defaultValue = "1",
                description = "Number of lines in all, the texts in turn. Default: each text once.")
        int count;

        @Option(
                names = "--per-second",
                paramLabel = "N",
                defaultValue = "1000",
                description = "Lines a second. Default: ${DEFAULT-VALUE}.")
        int perSecond;

        @Parameters(paramLabel = "TEXT", arity = "1..*", description = "The lines; <3> before one is its level.")
        List<String> texts = List.of();

        @Override
        public Integer call() {
            NodeControl node = NodeControl.open(which.root());
            if (count <= 1) {
                node.log(user, texts);
                return ExitCode.OK;
            }
            ScheduledExecutorService pace = Executors.newSingleThreadScheduledExecutor();
            try {
                node.storm(new KernelStorm(texts, Map.of(), count, perSecond), user)
                        .play(pace)
                        .join();
            } finally {
                pace.shutdownNow();
            }
            return ExitCode.OK;
        }
    }

    /** Checks scenario files. */
    @Command(
            name = "validate",
            mixinStandardHelpOptions = true,
            description = {
                "Check scenario files: their text, and that the node with its whole timeline can be made.",
                "Shows all mistakes of a file, each as FILE:LINE:COLUMN."
            },
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {"0:no mistakes", "2:mistakes"})
    static final class Validate implements Callable<Integer> {

        @Parameters(paramLabel = "FILE", arity = "1..*", description = "Scenario files.")
        List<String> files = List.of();

        @Spec
        CommandSpec spec = CommandSpec.create();

        @Override
        public Integer call() {
            for (String file : files) {
                try (SimulatedNode node = SimulatedNode.start(file)) {
                    node.advanceTo(Duration.ofSeconds(Long.MAX_VALUE));
                    Scenario scenario = node.scenario();
                    spec.commandLine()
                            .getOut()
                            .println(file + ": " + scenario.gpus().size() + " GPUs, "
                                    + scenario.processes().size() + " processes, "
                                    + scenario.faults().size() + " faults, "
                                    + scenario.timeline().size() + " steps");
                }
            }
            return ExitCode.OK;
        }
    }

    /** The option that selects a running simulated node. */
    static final class NodeOption {

        @Option(
                names = "--node",
                paramLabel = "DIR",
                defaultValue = "${env:GPUWARDEN_SIM_NODE}",
                description = "The node's folder. Needed only when several nodes run, and not below `sim exec`.")
        @Nullable Path node;

        Path root() {
            Path root = node == null || node.toString().isEmpty()
                    ? RunningNodes.ofUser().only()
                    : node;
            if (!Files.isDirectory(root.resolve("lib"))) {
                throw new UserError(root + ": expected the folder of a simulated node");
            }
            return root;
        }
    }
}
