package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.testkit.Unchecked;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Demonstrates VRAM budgets on a server without a cluster: two real processes share a simulated T4, and one grows. */
@Command(
        name = "vram",
        mixinStandardHelpOptions = true,
        description = {
            "Show VRAM budgets on a simulated node with one T4, which two processes share.",
            "One grows beyond its budget until little memory is free: the daemon must end it, and the other must stay.",
            "Takes fifteen seconds; `demo` has it too."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the process over its budget ended, and the other stayed", "1:another one ended, or none"})
final class DemoVramCommand implements Callable<Integer> {

    private static final String BUDGETS = """
            tenants:
              - process: immich-ml
                budget: 3000Mi
              - process: llama-swap
                budget: 5000Mi
            """;

    private static final int ENDING_SECONDS = 60;
    /** Exit code of a Java program that SIGTERM ended. */
    private static final int TERMINATED = 143;

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException {
        return play(spec.commandLine().getOut()) ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    /** Plays the act, and returns whether the right process ended. */
    static boolean play(PrintWriter out) throws InterruptedException {
        return DemoAct.play("t4", Map.of(), out, DemoVramCommand::played);
    }

    private static boolean played(DemoAct act) throws InterruptedException {
        Path budgets = act.node().root().resolve("budgets.yaml");
        Unchecked.get(() -> Files.writeString(budgets, BUDGETS));
        act.print("a node with one T4; immich-ml has a budget of 3000 MiB, llama-swap of 5000 MiB");
        act.start(
                "daemon",
                "daemon",
                "--web.listen-address=127.0.0.1:0",
                "--vram.budgets=" + budgets,
                "--vram.mode=armed",
                "--vram.grace=5s");
        Process victim = use(act, "llama-swap", 2500);
        Process culprit = use(act, "immich-ml", 8500, "--grow=150MiB/s");
        act.print("immich-ml has 8500 MiB and takes 150 MiB more each second ...");
        boolean ended = culprit.waitFor(ENDING_SECONDS, TimeUnit.SECONDS) && culprit.exitValue() == TERMINATED;
        boolean stayed = victim.isAlive();
        act.show("vram", "top", "--by=process");
        act.show("vram", "explain");
        act.print(
                ended && stayed
                        ? "immich-ml was ended, and llama-swap has room"
                        : "expected that immich-ml ends by SIGTERM and llama-swap stays; the daemon's log:\n"
                                + act.output("daemon"));
        return ended && stayed;
    }

    private static Process use(DemoAct act, String name, int mebibytes, String... more) {
        String[] all = {"sim", "use", "--gpu=0", "--name=" + name, "--mib=" + mebibytes};
        String[] arguments = Arrays.copyOf(all, all.length + more.length);
        System.arraycopy(more, 0, arguments, all.length, more.length);
        return act.start(name, arguments);
    }
}
