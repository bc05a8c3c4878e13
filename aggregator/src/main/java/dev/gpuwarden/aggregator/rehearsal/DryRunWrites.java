package dev.gpuwarden.aggregator.rehearsal;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Verdict;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes that the API server validates with all of its admission, and does not store. Each call blocks. */
record DryRunWrites(KubeClient api) {

    private static final String DRY_RUN = "dryRun=All";

    /**
     * The answer to a write.
     *
     * @param object the object as it would be stored; empty if it would not be, or that is unknown
     */
    record Answer(Verdict verdict, String why, Optional<Map<String, Object>> object) {}

    Answer create(String path, Map<String, Object> body) throws InterruptedException {
        return answer(() -> api.create(path + "?" + DRY_RUN, body));
    }

    Answer patch(String path, String manager, List<Map<String, Object>> operations) throws InterruptedException {
        return answer(() -> api.patch(path + "?fieldManager=" + manager + "&" + DRY_RUN, operations));
    }

    private interface Write {
        Map<String, Object> send() throws ApiException, InterruptedException;
    }

    private static Answer answer(Write write) throws InterruptedException {
        try {
            return new Answer(Verdict.DOES, "the API server accepts it", Optional.of(write.send()));
        } catch (ApiException e) {
            return new Answer(verdict(e), why(e), Optional.empty());
        }
    }

    private static Verdict verdict(ApiException e) {
        return unvalidated(e.answer()) || e.kind().equals("none") ? Verdict.UNKNOWN : Verdict.STOPS;
    }

    private static String why(ApiException e) {
        if (unvalidated(e.answer())) {
            return "not validated: " + e.answer();
        }
        if (e.notFound() && e.answer().contains("could not find the requested resource")) {
            return "the cluster has no such resource: apply its CustomResourceDefinition from the manifests (crds/)";
        }
        return e.kind().equals("none") ? String.valueOf(e.getMessage()) : "the API server refuses it: " + e.answer();
    }

    /**
     * Returns true if the answer is none about the write: the caller lacks the right, a webhook has side effects and gets no dry
     * run, or no answer came. Admission refuses with the same status, and with other words.
     */
    static boolean unvalidated(String answer) {
        return answer.contains(" cannot ") && answer.contains(" resource ")
                || answer.contains("does not support dry run")
                || answer.contains(": no answer ");
    }
}
