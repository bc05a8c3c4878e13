package dev.gpuwarden.api.kube;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The bodies of requests that end one pod. Each names the pod's UID, so that another pod of the same name stays. Pure. */
public final class PodRemoval {

    private PodRemoval() {}

    /** @param grace empty for the pod's own grace period */
    public static Map<String, Object> eviction(
            String namespace, String name, String uid, Optional<Duration> grace, boolean dryRun) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("apiVersion", "policy/v1");
        body.put("kind", "Eviction");
        body.put("metadata", Map.of("name", name, "namespace", namespace));
        body.put("deleteOptions", options(uid, grace, dryRun));
        return body;
    }

    /** @param grace empty for the pod's own grace period */
    public static Map<String, Object> deletion(String uid, Optional<Duration> grace, boolean dryRun) {
        Map<String, Object> body = options(uid, grace, dryRun);
        body.put("apiVersion", "v1");
        body.put("kind", "DeleteOptions");
        return body;
    }

    private static Map<String, Object> options(String uid, Optional<Duration> grace, boolean dryRun) {
        Map<String, Object> options = new LinkedHashMap<>();
        grace.ifPresent(given -> options.put("gracePeriodSeconds", given.toSeconds()));
        if (dryRun) {
            options.put("dryRun", List.of("All"));
        }
        options.put("preconditions", Map.of("uid", uid));
        return options;
    }
}
