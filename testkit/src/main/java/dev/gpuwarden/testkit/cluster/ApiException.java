package dev.gpuwarden.testkit.cluster;

/** A request that an API server has refused. */
public final class ApiException extends IllegalStateException {

    public static final int NOT_FOUND = 404;

    private static final long serialVersionUID = 1L;

    private final int status;

    /** @param body of the response, with the API server's reason */
    ApiException(String request, int status, String body) {
        super(request + ": answered " + status + ": " + body);
        this.status = status;
    }

    /** Returns the HTTP status, for example 404 or 409. */
    public int status() {
        return status;
    }
}
