package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.util.Text;
import io.grpc.Status;
import java.time.Duration;

/**
 * The reason of the end of a connection to the aggregator.
 *
 * @param failed false if the aggregator only requested a new connection
 * @param slowness the factor by which the pause before the next attempt is longer than after a broken connection
 */
record Disconnect(String kind, String why, boolean failed, int slowness) {

    private static final int LONGEST_TEXT = 200;

    /** The factor for errors that last until the other side is changed: frequent attempts are useless. */
    static final int SLOW = 5;

    static Disconnect of(Status status) {
        String text = status.getDescription() == null ? "" : ": " + shortened(status.getDescription());
        Throwable cause = status.getCause();
        if (cause != null && cause.getMessage() != null) {
            text += " (" + shortened(cause.getMessage()) + ")";
        }
        if (status.isOk()) {
            return new Disconnect("OK", "the aggregator ended the stream", true, 1);
        }
        return new Disconnect(status.getCode().name(), status.getCode() + text, true, slowness(status.getCode()));
    }

    static Disconnect silent(String message, Duration timeout) {
        return new Disconnect(
                "silent", "the aggregator did not send " + message + " within " + timeout.toSeconds() + " s", true, 1);
    }

    static Disconnect leaving() {
        return new Disconnect("leaving", "the aggregator closes the connection", false, 1);
    }

    /** Returns the reason for a failure on this side: files that cannot be read, a store that takes no writes. */
    static Disconnect local(Exception cause) {
        return new Disconnect(cause.getClass().getSimpleName(), shortened(String.valueOf(cause.getMessage())), true, 1);
    }

    static int slowness(Status.Code code) {
        return switch (code) {
            // Identity, request or quota is wrong, and stays so for a while. ABORTED: another daemon reports for this
            // node.
            case UNAUTHENTICATED,
                    PERMISSION_DENIED,
                    INVALID_ARGUMENT,
                    FAILED_PRECONDITION,
                    UNIMPLEMENTED,
                    RESOURCE_EXHAUSTED,
                    ABORTED -> SLOW;
            default -> 1;
        };
    }

    static String shortened(String text) {
        return Text.truncate(text, LONGEST_TEXT);
    }
}
