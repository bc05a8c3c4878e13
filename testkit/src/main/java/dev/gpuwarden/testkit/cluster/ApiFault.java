package dev.gpuwarden.testkit.cluster;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/** A fault of a request between a client and an API server. */
public sealed interface ApiFault {

    /** The client receives this answer, and the server never receives the request. */
    record Answer(int status, Map<String, String> headers, String body) implements ApiFault {}

    /** The connection breaks before the server receives the request. */
    record CutBefore() implements ApiFault {}

    /** The server executes the request, and the connection breaks before the client receives the answer. */
    record CutAfter() implements ApiFault {}

    /** The server never receives the request, and no answer comes until the faults end. */
    record Hang() implements ApiFault {}

    /** The server receives the request after this time and answers it normally. */
    record Delay(Duration time) implements ApiFault {}

    /** Returns a conflict (409), as for an outdated version of the object. */
    static ApiFault conflict() {
        return status(409, "Conflict");
    }

    /** Returns an internal error (500). */
    static ApiFault broken() {
        return status(500, "InternalError");
    }

    /** Returns "service unavailable" (503). */
    static ApiFault unavailable() {
        return status(503, "ServiceUnavailable");
    }

    /** Returns "too many requests" (429) with a time to wait, as priority and fairness does. */
    static ApiFault tooMany(Duration retryAfter) {
        Answer answer = status(429, "TooManyRequests");
        return new Answer(
                answer.status(),
                Map.of("Content-Type", "application/json", "Retry-After", Long.toString(retryAfter.toSeconds())),
                answer.body());
    }

    /** Returns "gone" (410): the version that a list or a watch starts from is too old. */
    static ApiFault gone() {
        return status(410, "Expired");
    }

    /** Returns a watch that starts normally and whose first event is an ERROR: its version is too old. */
    static ApiFault goneInWatch() {
        String event = "{\"type\":\"ERROR\",\"object\":" + ((Answer) gone()).body() + "}\n";
        return new Answer(200, Map.of("Content-Type", "application/json"), event);
    }

    private static Answer status(int code, String reason) {
        String body = String.format(
                Locale.ROOT,
                "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
                        + "\"message\":\"a fault of the test\",\"reason\":\"%s\",\"code\":%d}",
                reason,
                code);
        return new Answer(code, Map.of("Content-Type", "application/json"), body);
    }

    /**
     * Selects the requests that have a fault.
     *
     * @param times number of requests with the fault; the next ones have none
     */
    record Rule(Predicate<ApiCall> calls, long times, ApiFault fault) {}
}
