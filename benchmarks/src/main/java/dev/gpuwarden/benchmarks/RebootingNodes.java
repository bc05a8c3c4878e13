package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.client.ApiException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/**
 * The nodes' part of a reboot: a Job that is not suspended completes, and its node has another boot ID some seconds later. No
 * kubelet and no Job controller run, so that their load is not measured.
 */
final class RebootingNodes implements AutoCloseable {

    private static final String JOBS = "/apis/batch/v1/namespaces/gpuwarden/jobs/";

    private final LoadCluster cluster;
    private final Duration off;
    private final Consumer<String> back;
    private final Set<String> done = ConcurrentHashMap.newKeySet();
    private final ExecutorService threads = Executors.newFixedThreadPool(LoadCluster.WRITERS);
    private final KubectlWatch watch;

    /**
     * @param off time from the start of a Job to the report of the next boot
     * @param back receiver of each node that has booted
     */
    RebootingNodes(LoadCluster cluster, Duration off, Consumer<String> back) throws IOException {
        this.cluster = cluster;
        this.off = off;
        this.back = back;
        this.watch = new KubectlWatch(
                cluster.plane,
                "jobs",
                ":.metadata.name,:.spec.suspend,:.spec.template.spec.nodeName",
                this::job,
                "--namespace=gpuwarden");
    }

    private void job(String... columns) {
        if (columns.length == 3 && columns[1].equals("false") && done.add(columns[0])) {
            var unused = cluster.objects().reboot(columns[2], off).thenRun(() -> back.accept(columns[2]));
            threads.execute(() -> complete(columns[0]));
        }
    }

    private void complete(String job) {
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        try {
            var unused = cluster.api.merge(
                    JOBS + job + "/status",
                    Map.of(
                            "status",
                            Map.of(
                                    "startTime",
                                    now,
                                    "completionTime",
                                    now,
                                    "succeeded",
                                    1,
                                    "conditions",
                                    List.of(condition("SuccessCriteriaMet", now), condition("Complete", now)))));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ApiException e) {
            throw new IllegalStateException(job, e);
        }
    }

    private static Map<String, Object> condition(String type, String now) {
        return Map.of("type", type, "status", "True", "reason", "Load", "message", "", "lastTransitionTime", now);
    }

    @Override
    public void close() {
        watch.close();
        threads.shutdownNow();
    }
}
