package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.scenario.SimGpu;
import dev.gpuwarden.testkit.scenario.Vocabulary;
import dev.gpuwarden.testkit.sim.NativeFiles;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the built-in scenarios. */
@Command(name = "list", mixinStandardHelpOptions = true, description = "List the built-in scenarios.")
final class SimListCommand implements Callable<Integer> {

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
                scenarios.stream().map(SimListCommand::tree).toList(),
                table::print);
        return ExitCode.OK;
    }

    private static Map<String, Object> tree(Scenario scenario) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", scenario.name());
        tree.put("description", scenario.description());
        tree.put("driver", scenario.driver().label());
        tree.put("driverInferred", scenario.driver().inferred());
        tree.put("gpus", scenario.gpus().stream().map(gpu -> gpu.board().name()).toList());
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
