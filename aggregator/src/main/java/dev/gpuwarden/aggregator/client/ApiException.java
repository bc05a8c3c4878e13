package dev.gpuwarden.aggregator.client;

import java.util.List;
import java.util.Optional;

/** A request that the API server did not carry out. */
public final class ApiException extends Exception {

    private static final long serialVersionUID = 1;

    private static final int NO_ANSWER = 0;
    private static final int FORBIDDEN = 403;
    private static final int BAD_REQUEST = 400;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int INVALID = 422;

    private final int status;
    private final String reason;
    private final long retryAfterSeconds;
    private final String answer;
    private final List<Cause> causes;

    /**
     * A cause that the API server names for a refusal.
     *
     * @param reason the API server's word for programs, for example `DisruptionBudget`
     */
    public record Cause(String reason, String message) {}

    /**
     * @param reason the API server's word for the error; empty if it names none
     * @param retryAfterSeconds pause that the server asks for; 0 if it asks for none
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

    /** Returns true if the server answered that the object does not exist. */
    public boolean notFound() {
        return status == NOT_FOUND;
    }

    /** Returns true if this program lacks the right to this request. */
    public boolean forbidden() {
        return status == FORBIDDEN;
    }

    /** Returns true if the object has another version than the request names, or exists already. */
    public boolean conflict() {
        return status == CONFLICT;
    }

    /** Returns true if the object that the request creates exists already. */
    public boolean alreadyThere() {
        return status == CONFLICT && reason.equals("AlreadyExists");
    }

    /** Returns true if the server cannot read the content of the request, for example a field of another type. */
    public boolean unreadable() {
        return status == BAD_REQUEST;
    }

    /** Returns true if the server rejects the content of the request, which includes a JSON patch whose test fails. */
    public boolean invalid() {
        return status == INVALID;
    }

    /** Returns the HTTP status for metrics, or "none" if no answer came. */
    public String kind() {
        return status == NO_ANSWER ? "none" : Integer.toString(status);
    }

    /** Returns the API server's own text about the error, or this program's text if the server sent none. */
    public String answer() {
        return answer;
    }

    /** Returns the message of the cause with this reason; empty if the API server names no such cause. */
    public Optional<String> cause(String reason) {
        return causes.stream()
                .filter(cause -> cause.reason().equals(reason))
                .map(Cause::message)
                .findFirst();
    }

    /** Returns the pause that the server asks for before the next request, in seconds; 0 if it asks for none. */
    public long retryAfterSeconds() {
        return retryAfterSeconds;
    }
}
