package dev.gpuwarden.aggregator.cluster;

/** The API server did not do what it was asked for. */
public final class ClusterException extends Exception {

    private static final long serialVersionUID = 1;

    private static final int NO_ANSWER = 0;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int INVALID = 422;

    private final int status;

    ClusterException(int status, String message) {
        super(message);
        this.status = status;
    }

    static ClusterException noAnswer(String message) {
        return new ClusterException(NO_ANSWER, message);
    }

    /** Whether the server answered, and what was asked for is not there. */
    public boolean notFound() {
        return status == NOT_FOUND;
    }

    /** Whether it is another version than was meant, or is there already. */
    public boolean conflict() {
        return status == CONFLICT;
    }

    /** Whether it cannot be what was asked for, which includes a JSON patch whose test fails. */
    public boolean invalid() {
        return status == INVALID;
    }

    /** For metrics: the status of HTTP, or "none" where no answer came. */
    public String kind() {
        return status == NO_ANSWER ? "none" : Integer.toString(status);
    }
}
