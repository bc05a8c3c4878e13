package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A reader of Jobs and of the reasons of their failures. Each call blocks for the API server. */
final class JobReader {

    /**
     * A Job.
     *
     * @param version its resourceVersion, which its start requires
     * @param begun time of its start, or of its creation before
     * @param started true once it was started, also if another controller has suspended it since
     * @param suspended true until its resource refers to it and it was started, and again if another controller suspends it
     * @param succeeded its result; empty while it runs
     * @param exitCode exit code of its container; empty if there is none
     * @param message reason of its failure; empty if it did not fail
     */
    record JobFacts(
            String uid,
            String version,
            Instant begun,
            boolean started,
            boolean suspended,
            Optional<Boolean> succeeded,
            Optional<Integer> exitCode,
            String message) {

        /** Returns true before the one start of the Job. */
        boolean waits() {
            return suspended && !started;
        }

        /** Returns true if the program on the node has tested again, and has ended before it did anything. */
        boolean withheld() {
            return exitCode.equals(Optional.of(ExitCode.WITHHELD)) && message.startsWith("withheld: ");
        }

        /** Returns true if the arguments of the program were wrong, or a program or GPU was missing. */
        boolean unusable() {
            return exitCode.equals(Optional.of(ExitCode.USAGE));
        }

        /** Returns true if another controller has suspended the Job after its start: its pod may have acted. */
        boolean interrupted() {
            return suspended && started && succeeded.isEmpty();
        }

        boolean runs() {
            return !suspended && succeeded.isEmpty();
        }
    }

    private static final int LONGEST = 1024;
    private static final String PREFIX = "gpuwarden: ";

    private final KubeClient api;
    private final String namespace;

    JobReader(KubeClient api, String namespace) {
        this.api = api;
        this.namespace = namespace;
    }

    /** Returns the Job of a resource; empty if there is none. */
    Optional<JobFacts> find(Maintenance resource) throws ApiException, InterruptedException {
        Optional<Map<String, Object>> job = api.find(Jobs.kind(namespace).path(resource.jobName()));
        return job.isEmpty() ? Optional.empty() : Optional.of(of(resource, job.get()));
    }

    /** Reads the Job of a resource. Only the reason of a failure needs the API server. */
    JobFacts of(Maintenance resource, Map<String, Object> job) throws ApiException, InterruptedException {
        Map<String, Object> metadata = JsonTrees.object(job, "metadata");
        boolean started = JsonTrees.object(metadata, "annotations").containsKey(Jobs.STARTED);
        Instant begun = JsonTrees.time(JsonTrees.object(metadata, "annotations"), Jobs.STARTED)
                .or(() -> JsonTrees.time(metadata, "creationTimestamp"))
                .orElse(Instant.EPOCH);
        String uid = JsonTrees.text(metadata, "uid");
        String version = JsonTrees.text(metadata, "resourceVersion");
        boolean suspended = JsonTrees.isTrue(JsonTrees.object(job, "spec"), "suspend");
        List<Map<String, Object>> conditions = JsonTrees.objects(JsonTrees.object(job, "status"), "conditions").stream()
                .filter(each -> JsonTrees.text(each, "status").equals("True"))
                .toList();
        if (has(conditions, "Complete").isPresent()) {
            return new JobFacts(uid, version, begun, true, false, Optional.of(true), Optional.of(0), "");
        }
        Optional<Map<String, Object>> failed = has(conditions, "Failed").or(() -> has(conditions, "FailureTarget"));
        if (failed.isEmpty()) {
            return new JobFacts(uid, version, begun, started, suspended, Optional.empty(), Optional.empty(), "");
        }
        Map<String, Object> end = container(resource);
        String said = failure(JsonTrees.text(end, "message"));
        String message = said.isEmpty()
                ? JsonTrees.text(failed.get(), "reason") + ": " + JsonTrees.text(failed.get(), "message")
                : said;
        Optional<Integer> code =
                end.containsKey("exitCode") ? Optional.of(JsonTrees.number(end, "exitCode")) : Optional.empty();
        return new JobFacts(
                uid, version, begun, true, false, Optional.of(false), code, Text.truncate(message.strip(), LONGEST));
    }

    private static Optional<Map<String, Object>> has(List<Map<String, Object>> conditions, String type) {
        return conditions.stream()
                .filter(each -> JsonTrees.text(each, "type").equals(type))
                .findFirst();
    }

    /**
     * Returns the end of the container, or of the gate before it that ended it; empty if there is none, for example because the pod is
     * gone.
     */
    private Map<String, Object> container(Maintenance resource) throws ApiException, InterruptedException {
        Map<String, Object> pods = api.get("/api/v1/namespaces/" + namespace + "/pods?labelSelector="
                + KubeClient.Pages.encoded(Maintenance.OF + "=" + resource.uid()));
        return JsonTrees.objects(pods, "items").stream()
                .flatMap(pod -> Stream.of("initContainerStatuses", "containerStatuses")
                        .flatMap(list -> JsonTrees.objects(JsonTrees.object(pod, "status"), list).stream()))
                .map(status -> JsonTrees.object(JsonTrees.object(status, "state"), "terminated"))
                .filter(end -> !end.isEmpty() && JsonTrees.number(end, "exitCode") != 0)
                .findFirst()
                .orElse(Map.of());
    }

    /**
     * Returns the last line that gpuwarden itself wrote to the end of a container's log, which names the step that failed; all
     * of it if there is none. The kubelet keeps the last 2,048 bytes, and mixes both outputs in any order.
     */
    static String failure(String log) {
        return log.lines()
                .map(String::strip)
                .filter(line -> line.startsWith(PREFIX))
                .reduce((earlier, later) -> later)
                .map(line -> line.substring(PREFIX.length()))
                .orElse(log.strip());
    }
}
