package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** A failed request to the API server. The message is written for users. */
final class KubeException extends IOException {
    private static final long serialVersionUID = 1L;

    private static final int LONGEST_TEXT = 600;
    private static final int FORBIDDEN = 403;

    private final int status;
    private final transient Optional<Duration> retryAfter;
    private final transient Map<?, ?> said;

    private KubeException(String message, int status, Map<?, ?> said, Optional<Duration> retryAfter, Exception cause) {
        super(message, cause);
        this.status = status;
        this.said = said;
        this.retryAfter = retryAfter;
    }

    static KubeException unreachable(KubeAccess access, IOException cause) {
        return new KubeException(
                "the API server " + access + " cannot be asked: " + text(cause), 0, Map.of(), Optional.empty(), cause);
    }

    /**
     * Returns the error for an answer of the server.
     *
     * @param said the Status in the answer; empty if the answer was something else
     */
    static KubeException answered(
            int status, Map<?, ?> said, ApiRequest request, KubeAccess access, Optional<Duration> retryAfter) {
        String reason = JsonTrees.text(said, "message");
        String words = reason.isEmpty() ? "" : ": " + shortened(reason);
        return new KubeException(
                "the API server answers " + status + words + hint(status, reason, request, access),
                status,
                said,
                retryAfter,
                new IOException(request.method() + " " + request.path()));
    }

    private static String hint(int status, String reason, ApiRequest request, KubeAccess access) {
        boolean policy = reason.contains("ValidatingAdmissionPolicy");
        String rights = switch (request.kind()) {
            case pods, capacity, removals -> "the component node-vram (docs/operating/vram-budgets.md)";
            case maintenance -> "the component remediation-armed (docs/operating/maintenance.md)";
            default -> "gpuwarden-node.yaml (docs/operating/node-conditions.md)";
        };
        return switch (status) {
            case 401 ->
                "; it does not accept "
                        + access.token().map(CredentialSource::toString).orElse(access.origin())
                        + ", which is read again for each request";
            case FORBIDDEN ->
                policy
                        ? "; this daemon may write on its own Node alone (--kubernetes.node)"
                        : "; to allow " + request.method() + " of " + request.kind() + ", apply " + rights;
            case 404 ->
                request.path().startsWith(ApiRequest.ALL_NODES)
                        ? "; --kubernetes.node or NODE_NAME must be one of `kubectl get nodes`"
                        : "";
            default -> "";
        };
    }

    /** Returns the message alone, for logs of other classes. */
    @Override
    public String toString() {
        return String.valueOf(getMessage());
    }

    /** Returns the HTTP status; 0 if there was no answer. */
    int status() {
        return status;
    }

    /** Returns the server's own words; empty if there are none. */
    String answer() {
        return JsonTrees.text(said, "message");
    }

    /** Returns which PodDisruptionBudget refuses an eviction; empty for every other answer. */
    Optional<String> budget() {
        return JsonTrees.objects(JsonTrees.object(said, "details"), "causes").stream()
                .filter(cause -> JsonTrees.text(cause, "reason").equals("DisruptionBudget"))
                .map(cause -> shortened(JsonTrees.text(cause, "message")))
                .findFirst();
    }

    /** Returns the pause that the server requests. */
    Optional<Duration> retryAfter() {
        return retryAfter;
    }

    /** Returns true if the error lasts until an operator changes something: frequent attempts are useless. */
    boolean slow() {
        return status == 401 || status == FORBIDDEN || status == 404;
    }

    /** Returns true if the server will never accept this request. */
    boolean refused() {
        return status == 400 || status == 413 || status == 422;
    }

    /** Returns the first message among the causes: Java's connection errors often have none of their own. */
    private static String text(Throwable error) {
        for (Throwable at = error; at != null; at = at.getCause()) {
            if (at.getMessage() != null && !at.getMessage().isBlank()) {
                return shortened(
                        at instanceof javax.net.ssl.SSLException ? "TLS: " + at.getMessage() : at.getMessage());
            }
        }
        return error instanceof java.net.ConnectException
                ? "no connection"
                : error.getClass().getSimpleName();
    }

    private static String shortened(String text) {
        return Text.truncate(text.replaceAll("\\p{Cntrl}+", " "), LONGEST_TEXT);
    }
}
