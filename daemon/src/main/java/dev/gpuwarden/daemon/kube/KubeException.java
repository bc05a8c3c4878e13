package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/** The API server did not do what it was asked to. The message is for people. */
final class KubeException extends IOException {
    private static final long serialVersionUID = 1L;

    private static final int LONGEST_TEXT = 600;
    private static final int FORBIDDEN = 403;

    private final int status;
    private final transient Optional<Duration> retryAfter;

    private KubeException(String message, int status, Optional<Duration> retryAfter, Exception cause) {
        super(message, cause);
        this.status = status;
        this.retryAfter = retryAfter;
    }

    static KubeException unreachable(KubeAccess access, IOException cause) {
        return new KubeException(
                "the API server " + access + " cannot be asked: " + text(cause), 0, Optional.empty(), cause);
    }

    /** @param said the `message` of the Status that the server answered with; empty where it answered with something else */
    static KubeException answered(
            int status, String said, ApiRequest request, KubeAccess access, Optional<Duration> retryAfter) {
        String words = said.isEmpty() ? "" : ": " + shortened(said);
        return new KubeException(
                "the API server answers " + status + words + hint(status, said, request, access),
                status,
                retryAfter,
                new IOException(request.method() + " " + request.path()));
    }

    private static String hint(int status, String said, ApiRequest request, KubeAccess access) {
        boolean policy = said.contains("ValidatingAdmissionPolicy");
        return switch (status) {
            case 401 ->
                "; it does not know "
                        + access.token().map(CredentialSource::toString).orElse(access.origin())
                        + ", which is read again for each request";
            case FORBIDDEN ->
                policy
                        ? "; this daemon may write on its own Node alone (--kubernetes.node)"
                        : "; to allow " + request.method() + " of " + request.kind()
                                + ", apply gpuwarden-node.yaml (daemon/docs/kubernetes.md)";
            case 404 ->
                request.kind() == ApiRequest.Kind.events
                        ? ""
                        : "; --kubernetes.node or NODE_NAME must be one of `kubectl get nodes`";
            default -> "";
        };
    }

    /** For logs of others, which write it as it is: its message says all. */
    @Override
    public String toString() {
        return String.valueOf(getMessage());
    }

    /** HTTP's status; 0 where there was no answer. */
    int status() {
        return status;
    }

    /** How long the server wants not to be asked. */
    Optional<Duration> retryAfter() {
        return retryAfter;
    }

    /** Whether a person has to change something before it can work: asking often is of no use. */
    boolean slow() {
        return status == 401 || status == FORBIDDEN || status == 404;
    }

    /** Whether the server will never take this very request, whoever asks. */
    boolean refused() {
        return status == 400 || status == 413 || status == 422;
    }

    /** Java's connection errors often have their text in the cause, or none at all. */
    private static String text(Throwable error) {
        for (Throwable at = error; at != null; at = at.getCause()) {
            if (at.getMessage() != null && !at.getMessage().isBlank()) {
                return shortened(
                        at instanceof javax.net.ssl.SSLException ? "TLS: " + at.getMessage() : at.getMessage());
            }
        }
        return error instanceof java.net.ConnectException
                ? "nobody answers there"
                : error.getClass().getSimpleName();
    }

    private static String shortened(String text) {
        return Text.truncate(text.replaceAll("\\p{Cntrl}+", " "), LONGEST_TEXT);
    }
}
