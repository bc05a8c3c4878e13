package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.sim.NodeControl;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

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
final class SimSetCommand implements Callable<Integer> {

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
