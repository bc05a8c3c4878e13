package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.cli.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The commands of an operator about VRAM of a Node: to wait for it, and to remove it. */
class VramWaitClusterTest extends VramSetup {

    private record Result(int code, String text) {}

    private Result run(String... arguments) {
        CommandLine line = Main.commandLine();
        StringWriter text = new StringWriter();
        line.setOut(new PrintWriter(text)).setErr(new PrintWriter(text));
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--kubeconfig=" + plane.adminKubeconfig());
        int code = line.execute(all.toArray(String[]::new));
        return new Result(code, text.toString());
    }

    private Result await(String mib, String timeout) {
        return run("vram", "wait", "--node", node, "--at-least", mib, "--timeout", timeout);
    }

    @Test
    void theCommandWaitsForTheAmountAndCleanNodesRemovesIt() throws Exception {
        Result none = await("5000", "0s");
        assertThat(none.text()).contains("has no " + RESOURCE + ", expected 5000 MiB within 0s");
        assertThat(none.code()).isEqualTo(1);
        CompletableFuture<Result> waits = CompletableFuture.supplyAsync(() -> await("5000", "1m"));
        start(ActionMode.DRY_RUN, true, false);
        assertThat(advertise(OptionalLong.of(5000)).getAccepted()).isTrue();
        assertThat(waits.join()).isEqualTo(new Result(0, node + " has 5000 MiB of " + RESOURCE + "\n"));
        assertThat(await("5001", "0s").code()).isEqualTo(1);

        parts.close();
        assertThat(run("clean-nodes", node, "--yes").text()).contains("took away VRAM for budgets by gpuwarden-vram");
        assertThat(capacity(node)).isEmpty();
        assertThat(plane.client().find("node/" + node, ".metadata.annotations")).isEmpty();
    }

    @Test
    void wrongUsageAndAnUnknownNodeAreReported() {
        assertThat(await("0", "0s").code()).isEqualTo(2);
        assertThat(run("vram", "wait", "--node", node, "--at-least", "5", "--resource", "cpu")
                        .code())
                .isEqualTo(2);
        assertThat(run("vram", "wait", "--node", "no-such-node", "--at-least", "5")
                        .code())
                .isEqualTo(3);
    }
}
