package dev.gpuwarden.testkit.cluster;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/** What goes wrong with a request on its way to an API server and back. */
public sealed interface ApiFault {

    /** It is answered so, and the server never hears of it. */
    record Answer(int status, Map<String, String> headers, String body) implements ApiFault {}

    /** The connection breaks before the server hears of it. */
    record CutBefore() implements ApiFault {}

    /** The server has done it, and the connection breaks before anybody hears its answer. */
    record CutAfter() implements ApiFault {}

    /** The server never hears of it, and no answer comes until the faults are over. */
    record Hang() implements ApiFault {}

    /** It reaches the server so much later, and is answered well, if anybody still waits. */
    record Delay(Duration time) implements ApiFault {}

    /** A conflict, as of a version of the object that is not the newest (409). */
    static ApiFault conflict() {
        return status(409, "Conflict");
    }

    /** An internal error (500). */
    static ApiFault broken() {
        return status(500, "InternalError");
    }

    /** Not there for now (503). */
    static ApiFault unavailable() {
        return status(503, "ServiceUnavailable");
    }

    /** Told to wait (429), as by priority and fairness. */
    static ApiFault tooMany(Duration retryAfter) {
        Answer answer = status(429, "TooManyRequests");
        return new Answer(
                answer.status(),
                Map.of("Content-Type", "application/json", "Retry-After", Long.toString(retryAfter.toSeconds())),
                answer.body());
    }

    /** The version that a list or a watch begins with is too old (410). */
    static ApiFault gone() {
        return status(410, "Expired");
    }

    /** A watch that begins well and whose first event says that its version is too old. */
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
     * Which requests it befalls.
     *
     * @param times how many of them; the next are well
     */
    record Rule(Predicate<ApiCall> calls, long times, ApiFault fault) {}
}
