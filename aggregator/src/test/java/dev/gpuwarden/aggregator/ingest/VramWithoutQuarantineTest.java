package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The program with VRAM budgets and without quarantine, with a real API server and the shipped rights. */
class VramWithoutQuarantineTest extends VramSetup {

    private static final Pattern TAKING = Pattern.compile("taking reports of nodes on \\S+:(\\d+)");

    private static int port(BufferedReader output) throws IOException {
        StringBuilder all = new StringBuilder();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            all.append(line).append('\n');
            Matcher taking = TAKING.matcher(line);
            if (taking.find()) {
                assertThat(all).contains("quarantine: off", "VRAM budgets: evictions dry-run, in " + RESOURCE);
                return Integer.parseInt(taking.group(1));
            }
        }
        throw new AssertionError("the program ended:\n" + all);
    }

    @Test
    void anAggregatorWithoutQuarantineServesBudgets() throws Exception {
        namespace("vram-alone");
        run("vram-alone", "ocr", node, "5000");
        Process aggregator = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "dev.gpuwarden.cli.Main",
                        "aggregator",
                        "--quarantine.mode=off",
                        "--vram.capacity=on",
                        "--cluster.kubeconfig=" + TestCluster.aggregatorKubeconfig(plane),
                        "--cluster.namespace=gpuwarden",
                        "--ingest.listen=127.0.0.1:0",
                        "--ingest.tls-cert=" + options.tlsCert,
                        "--ingest.tls-key=" + options.tlsKey,
                        "--web.listen-address=127.0.0.1:0")
                .redirectErrorStream(true)
                .start();
        try (BufferedReader output = aggregator.inputReader()) {
            uplink = parts.add(
                    new TestUplink(port(output), keys, "", TestCluster.token(plane, node)).hello(node, true, RESOURCE));
            assertThat(uplink.receive().getWelcome().getVramResource()).isEqualTo(RESOURCE);
            assertThat(list().getPodsList()).as("the Node has no such resource").isEmpty();
            assertThat(advertise(OptionalLong.of(14000)).getAccepted()).isTrue();
            assertThat(capacity(node)).isEqualTo("14k");
            assertThat(list().getPods(0).getName()).isEqualTo("ocr");
            assertThat(aggregator.toHandle().destroy()).isTrue();
            assertThat(aggregator.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(aggregator.exitValue()).isZero();
        } finally {
            aggregator.destroyForcibly();
            plane.client().deleteNow("pods/vram-alone");
        }
    }
}
