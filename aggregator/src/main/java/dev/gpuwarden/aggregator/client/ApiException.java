package dev.gpuwarden.aggregator.client;

import java.util.List;
import java.util.Optional;

/** The API server did not do what it was asked for. */
public final class ApiException extends Exception {

    private static final long serialVersionUID = 1;

    private static final int NO_ANSWER = 0;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int INVALID = 422;

    private final int status;
    private final String reason;
    private final long retryAfterSeconds;
    private final String answer;
    private final List<Cause> causes;

    /**
     * One of the reasons that the API server gives.
     *
     * @param reason in its own words for programs, as `DisruptionBudget`
     */
    public record Cause(String reason, String message) {}

    /**
     * @param reason the API server's word for it; empty where it has none
     * @param retryAfterSeconds 0 where the server says nothing of that
     * @param answer the API server's own text
     */
    ApiException(int status, String reason, long retryAfterSeconds, String message, String answer, List<Cause> causes) {
        super(message);
        this.status = status;
        this.reason = reason;
        this.retryAfterSeconds = retryAfterSeconds;
        this.answer = answer;
        this.causes = List.copyOf(causes);
    }

    public static ApiException noAnswer(String message) {
        return new ApiException(NO_ANSWER, "", 0, message, message, List.of());
    }

    /** Whether the server answered, and what was asked for is not there. */
    public boolean notFound() {
        return status == NOT_FOUND;
    }

    /** Whether this program has no right to what it asked for. */
    public boolean forbidden() {
        return status == FORBIDDEN;
    }

    /** Whether it is another version than was meant, or is there already. */
    public boolean conflict() {
        return status == CONFLICT;
    }

    /** Whether what was to be made is there already. */
    public boolean alreadyThere() {
        return status == CONFLICT && reason.equals("AlreadyExists");
    }

    /** Whether it cannot be what was asked for, which includes a JSON patch whose test fails. */
    public boolean invalid() {
        return status == INVALID;
    }

    /** For metrics: the status of HTTP, or "none" where no answer came. */
    public String kind() {
        return status == NO_ANSWER ? "none" : Integer.toString(status);
    }

    /** What the API server says of it, or what is known where it says nothing. */
    public String answer() {
        return answer;
    }

    /** What the API server gives as the reason so; empty where it is not that. */
    public Optional<String> cause(String reason) {
        return causes.stream()
                .filter(cause -> cause.reason().equals(reason))
                .map(Cause::message)
                .findFirst();
    }

    /** So long the server wants not to be asked again; 0 where it says nothing of that. */
    public long retryAfterSeconds() {
        return retryAfterSeconds;
    }
}
