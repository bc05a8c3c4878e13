package dev.gpuwarden.aggregator.pods;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.api.kube.PodRemoval;
import java.time.Duration;
import java.util.Optional;

/**
 * The requests to the API server that end one pod. Each names the pod's UID, so that another pod of the same name stays.
 * Blocks.
 *
 * @param grace grace period; empty for each pod's own
 * @param dryRun true if the API server must evaluate the requests, and change nothing
 */
public record PodEviction(KubeClient api, Optional<Duration> grace, boolean dryRun) {

    /** The result of a request. */
    public sealed interface Outcome {
        /** Returns the name of the result in metrics and audit records. */
        String kind();

        record Done(String kind) implements Outcome {}

        /** @param least shortest pause that the API server requests */
        record Refused(String kind, String why, Duration least) implements Outcome {}
    }

    private static final String GONE = "gone";

    /** Evicts the pod if its budget permits. */
    public Outcome evict(PodView pod) throws InterruptedException {
        var body = PodRemoval.eviction(pod.namespace(), pod.name(), pod.uid(), grace, dryRun);
        try {
            var unused = api.create(path(pod) + "/eviction", body);
            return new Outcome.Done("evicted");
        } catch (ApiException e) {
            return refused(pod, e);
        }
    }

    /** Deletes the pod, whatever its budget permits. */
    public Outcome delete(PodView pod) throws InterruptedException {
        try {
            api.delete(path(pod), PodRemoval.deletion(pod.uid(), grace, dryRun));
            return new Outcome.Done("deleted");
        } catch (ApiException e) {
            return refused(pod, e);
        }
    }

    private static String path(PodView pod) {
        return "/api/v1/namespaces/" + pod.namespace() + "/pods/" + pod.name();
    }

    private static Outcome refused(PodView pod, ApiException e) {
        Duration least = Duration.ofSeconds(Math.min(e.retryAfterSeconds(), 60));
        // The name belongs to another pod by now.
        if (e.notFound() || e.conflict() && e.answer().contains("UID")) {
            return new Outcome.Done(GONE);
        }
        return switch (e.kind()) {
            case "429" -> {
                var budget = e.cause("DisruptionBudget");
                yield budget.isPresent()
                        ? new Outcome.Refused("budget", budget.get(), least)
                        : new Outcome.Refused("busy", "the API server is busy: " + e.answer(), least);
            }
            case "403" ->
                e.cause("NamespaceTerminating").isPresent()
                        ? new Outcome.Refused(
                                "namespace", "its namespace " + pod.namespace() + " is being deleted", least)
                        : new Outcome.Refused("forbidden", e.answer(), least);
            default ->
                e.answer().contains("more than one PodDisruptionBudget")
                        ? new Outcome.Refused(
                                "budgets",
                                "it has more than one PodDisruptionBudget, and Kubernetes does not evict it",
                                least)
                        : new Outcome.Refused("error", e.answer(), least);
        };
    }
}
