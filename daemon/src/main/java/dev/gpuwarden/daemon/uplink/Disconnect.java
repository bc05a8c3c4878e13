package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.util.Text;
import io.grpc.Status;
import java.time.Duration;

/**
 * Why a connection to the aggregator is over.
 *
 * @param failed false where the aggregator only wanted the node to connect anew
 * @param slowness by how much longer than after a broken connection the node waits before it tries again
 */
record Disconnect(String kind, String why, boolean failed, int slowness) {

    private static final int LONGEST_TEXT = 200;

    /** What a person or a program on the other side must change before it can work: asking often is of no use. */
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

    static Disconnect silent(String wanted, Duration patience) {
        return new Disconnect(
                "silent", "the aggregator did not send " + wanted + " within " + patience.toSeconds() + " s", true, 1);
    }

    static Disconnect leaving() {
        return new Disconnect("leaving", "the aggregator closes the connection", false, 1);
    }

    /** Something on this side: files that cannot be read, a store that takes nothing. */
    static Disconnect local(Exception cause) {
        return new Disconnect(cause.getClass().getSimpleName(), shortened(String.valueOf(cause.getMessage())), true, 1);
    }

    static int slowness(Status.Code code) {
        return switch (code) {
            // Who, what or how much is wrong, and stays so for a while. ABORTED: another daemon speaks for this node.
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
