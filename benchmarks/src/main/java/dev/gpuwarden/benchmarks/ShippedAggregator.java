package dev.gpuwarden.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** `gpuwarden aggregator` as a separate process. */
final class ShippedAggregator extends ShippedProgram {

    ShippedAggregator(String program, Path kubeconfig, Path work, int port, int webPort, List<String> more)
            throws IOException {
        super(start(program, kubeconfig, work, port, webPort, more), "http://127.0.0.1:" + webPort);
    }

    private static Process start(String program, Path kubeconfig, Path work, int port, int webPort, List<String> more)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                program,
                "aggregator",
                "--cluster.kubeconfig=" + kubeconfig,
                "--ingest.listen=127.0.0.1:" + port,
                "--ingest.tls-cert=" + work.resolve("cert.pem"),
                "--ingest.tls-key=" + work.resolve("key.pem"),
                "--audit.file=" + work.resolve("audit.jsonl"),
                "--web.listen-address=127.0.0.1:" + webPort));
        command.addAll(more);
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        work.resolve("aggregator.log").toFile()))
                .start();
    }

    /** Waits until a metric has a value. It polls rarely, because each answer takes time that is measured. */
    void await(String name, double value, long seconds) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (metric(name) != value) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("not within " + seconds + " s: " + name + " is " + value);
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }
}
