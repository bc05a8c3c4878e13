package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.testkit.scenario.KernelStorm;
import dev.gpuwarden.testkit.sim.NodeControl;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

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
final class SimLogCommand implements Callable<Integer> {

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
