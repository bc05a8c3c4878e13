package dev.gpuwarden.benchmarks;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** `gpuwarden aggregator` as a separate process. */
final class ShippedAggregator implements AutoCloseable {

    private static final Pattern RSS = Pattern.compile("VmRSS:\\s+(\\d+) kB");

    /** Ticks per second in `/proc`, the same on every Linux. */
    private static final int TICKS_PER_SECOND = 100;

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Process process;
    private final int webPort;
    private final HttpClient client = HttpClient.newHttpClient();

    ShippedAggregator(String program, Path kubeconfig, Path work, int port, int webPort, List<String> more)
            throws IOException {
        this.webPort = webPort;
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
        this.process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        work.resolve("aggregator.log").toFile()))
                .start();
    }

    /** Returns the value of the sample with this name and these labels; 0 if it is absent or the program does not answer. */
    double metric(String name) {
        return metrics()
                .orElse("")
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    /** Returns all metrics as text; empty without an answer, or with another status than 200. */
    Optional<String> metrics() {
        try {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + webPort + "/metrics"))
                            .timeout(PATIENCE)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            return answer.statusCode() == 200 ? Optional.of(answer.body()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    boolean isAlive() {
        return process.isAlive();
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

    long residentMib() throws IOException {
        Matcher rss = RSS.matcher(Files.readString(Path.of("/proc/" + process.pid() + "/status")));
        return rss.find() ? Long.parseLong(rss.group(1)) / 1024 : 0;
    }

    /** Returns processor time since its start, in seconds. */
    double processorSeconds() throws IOException {
        String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / (double) TICKS_PER_SECOND;
    }

    void kill() throws InterruptedException {
        var unused = process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
