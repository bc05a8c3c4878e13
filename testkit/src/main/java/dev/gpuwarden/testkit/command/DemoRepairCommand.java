package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Demonstrates the repair of a server without a cluster: its daemon resets a GPU while a real process uses another one. */
@Command(
        name = "repair",
        mixinStandardHelpOptions = true,
        description = {
            "Show a server without Kubernetes that repairs itself, on a simulated node with four L4.",
            "A GPU has an uncorrectable memory error (XID 48): the daemon must reset it, check it and report it healthy,",
            "while a process on another GPU keeps running. Takes fifteen seconds; `demo` has it too."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the GPU was reset by itself, and the process ran on", "1:it was not, or the process ended"})
final class DemoRepairCommand implements Callable<Integer> {

    private static final int BROKEN = 2;
    private static final int USED = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException {
        return play(spec.commandLine().getOut()) ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    /** Plays the act, and returns whether the GPU was repaired. */
    static boolean play(PrintWriter out) throws InterruptedException {
        // The simulated nvidia-smi asks for root as the real one does, and the demo runs without.
        return DemoAct.play("l4x4", Map.of("GPUWARDEN_SIM_ROOT", "1"), out, DemoRepairCommand::played);
    }

    private static boolean played(DemoAct act) throws InterruptedException {
        SimulatedNode node = act.node();
        Process daemon = act.start(
                "daemon",
                "daemon",
                "--web.listen-address=127.0.0.1:0",
                "--repair.mode=armed",
                "--repair.settle=1s",
                "--path.devices=" + node.devices());
        // Without the variable CUDA opens every GPU, and no GPU could be reset.
        Process user = act.start(
                "trainer",
                Map.of("CUDA_VISIBLE_DEVICES", Integer.toString(USED)),
                "sim",
                "use",
                "--gpu=" + USED,
                "--name=trainer",
                "--mib=4000");
        act.print("a server with four L4 and an armed daemon; trainer uses GPU " + USED);
        act.print("GPU " + BROKEN + " has an uncorrectable memory error (XID 48) ...");
        node.set("gpu." + BROKEN + ".state", "reset-required");
        node.logKernel(String.format(
                Locale.ROOT,
                "NVRM: Xid (PCI:0000:%02x:00): 48, pid='<unknown>', name=<unknown>, An uncorrectable double bit error"
                        + " (DBE) has been detected",
                node.control().table().number("gpu[" + BROKEN + "].pci_bus")));
        Path record = node.root().resolve("var/lib/gpuwarden/events-repairs.jsonl");
        boolean repaired =
                awaitEnd(record, daemon) && node.control().gpus().get(BROKEN).fit();
        boolean ran = user.isAlive();
        act.show("repairs", record.toString());
        act.print(
                repaired && ran
                        ? "GPU " + BROKEN + " was reset and has passed its checks, and trainer ran on"
                        : "expected a reset of GPU " + BROKEN
                                + " that succeeds, and a trainer that runs; the daemon's log:\n"
                                + act.output("daemon"));
        return repaired && ran;
    }

    private static boolean awaitEnd(Path record, Process daemon) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (daemon.isAlive() && System.nanoTime() - end < 0) {
            if (Files.exists(record)
                    && Unchecked.get(() -> Files.readString(record)).contains("\"outcome\":\"succeeded\"")) {
                return true;
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
        return false;
    }
}
