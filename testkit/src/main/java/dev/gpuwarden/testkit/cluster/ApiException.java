package dev.gpuwarden.testkit.cluster;

/** An API server has refused a request. */
public final class ApiException extends IllegalStateException {

    static final int NOT_FOUND = 404;

    private static final long serialVersionUID = 1L;

    private final int status;

    /** @param body the answer, in which the API server says why */
    ApiException(String request, int status, String body) {
        super(request + ": answered " + status + ": " + body);
        this.status = status;
    }

    /** Of HTTP, as in 404 or 409. */
    public int status() {
        return status;
    }
}
