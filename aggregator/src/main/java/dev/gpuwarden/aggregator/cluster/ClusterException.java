package dev.gpuwarden.aggregator.cluster;

/** The API server did not do what it was asked for. */
public final class ClusterException extends Exception {

    private static final long serialVersionUID = 1;

    private static final int NO_ANSWER = 0;
    private static final int NOT_FOUND = 404;

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

    /** For metrics: the status of HTTP, or "none" where no answer came. */
    public String kind() {
        return status == NO_ANSWER ? "none" : Integer.toString(status);
    }
}
