package dev.gpuwarden.aggregator.janitor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The parts of a Job's pod by which its program tests again just before it acts: the arguments that name its resource, and a token
 * that may read the Node, its lock and the resource. The daemon's {@code MaintenanceGate} is the reader. Pure.
 */
final class GatePod {

    /** The command of gpuwarden that tests again, for programs of other languages. */
    static final String COMMAND = "maintenance-gate";

    /** The init container of a pod whose program has no gate of its own. */
    static final String CONTAINER = "gate";

    private static final String TOKEN = "maintenance-token";
    private static final String PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
    private static final long TOKEN_SECONDS = 3_600;

    private GatePod() {}

    static List<String> args(Maintenance resource, JanitorSettings settings) {
        return List.of(
                "--maintenance.resource=" + resource.kind().resources().plural() + "/" + resource.name(),
                "--maintenance.uid=" + resource.uid(),
                "--maintenance.generation=" + resource.progress().observedGeneration(),
                "--maintenance.node=" + resource.node(),
                "--maintenance.node-uid=" + resource.progress().nodeUid(),
                "--maintenance.lock-namespace=" + settings.lockNamespace());
    }

    /** Returns the volume with the token, which is mounted by {@link #mount} alone. */
    static Map<String, Object> volume() {
        Map<String, Object> token = Map.of("path", "token", "expirationSeconds", TOKEN_SECONDS);
        Map<String, Object> ca =
                Map.of("name", "kube-root-ca.crt", "items", List.of(Map.of("key", "ca.crt", "path", "ca.crt")));
        return Map.of(
                "name",
                TOKEN,
                "projected",
                Map.of("sources", List.of(Map.of("serviceAccountToken", token), Map.of("configMap", ca))));
    }

    static Map<String, Object> mount() {
        return Map.of("name", TOKEN, "mountPath", PATH, "readOnly", true);
    }

    /** Returns the init container that tests again before the program of an operator starts. */
    static Map<String, Object> container(
            Maintenance resource, JanitorSettings settings, Map<String, Object> security, Map<String, Object> needs) {
        List<String> words = new ArrayList<>(List.of(COMMAND));
        words.addAll(args(resource, settings));
        return Map.of(
                "name",
                CONTAINER,
                "image",
                settings.image(),
                "imagePullPolicy",
                "IfNotPresent",
                "args",
                words,
                "terminationMessagePolicy",
                "FallbackToLogsOnError",
                "securityContext",
                security,
                "resources",
                needs,
                "volumeMounts",
                List.of(mount()));
    }
}
