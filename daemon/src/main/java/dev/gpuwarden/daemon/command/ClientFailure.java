package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import io.grpc.Status;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Locale;

/** A failed request to the daemon: the message for the user and the command's exit code. */
record ClientFailure(int exitCode, String message) {

    private static final String WITHOUT = "; 'gpuwarden scan' works without a daemon";

    static ClientFailure of(Status status, Path socket) {
        String description = status.getDescription() == null ? "no reason given" : status.getDescription();
        return switch (status.getCode()) {
            case UNAVAILABLE, UNKNOWN -> unreachable(socket, description);
            case PERMISSION_DENIED, UNAUTHENTICATED ->
                new ClientFailure(ExitCode.NOT_FIT, "the daemon denied permission: " + description);
            case NOT_FOUND -> new ClientFailure(ExitCode.NOT_FIT, description);
            case INVALID_ARGUMENT ->
                new ClientFailure(ExitCode.USAGE, "the daemon refused the request: " + description);
            case UNIMPLEMENTED ->
                new ClientFailure(
                        ExitCode.UNDECIDED,
                        "the server on " + socket
                                + " does not support this request: a daemon of another version, or no gpuwarden daemon");
            case DEADLINE_EXCEEDED ->
                new ClientFailure(ExitCode.UNDECIDED, "the daemon on " + socket + " did not answer in time" + WITHOUT);
            default ->
                new ClientFailure(
                        ExitCode.UNDECIDED,
                        "the daemon on " + socket + " failed: "
                                + status.getCode()
                                        .name()
                                        .toLowerCase(Locale.ROOT)
                                        .replace('_', ' ') + ": " + description);
        };
    }

    /** Opens the socket once more without gRPC, whose own messages are about addresses and channels. */
    private static ClientFailure unreachable(Path socket, String description) {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            probe.connect(UnixDomainSocketAddress.of(socket));
            return new ClientFailure(
                    ExitCode.UNDECIDED, "the server on " + socket + " ended the call: " + description + WITHOUT);
        } catch (IOException | IllegalArgumentException e) {
            return notConnected(socket, String.valueOf(e.getMessage()));
        }
    }

    static ClientFailure notConnected(Path socket, String cause) {
        String tried = "no daemon answers on " + socket + " (--grpc.socket): ";
        if (cause.contains("Permission denied")) {
            return new ClientFailure(
                    ExitCode.NOT_FIT,
                    "no permission to open the daemon's socket " + socket
                            + ": run as root, or let the daemon give it to your group (--grpc.socket-group)");
        }
        if (cause.contains("No such file")) {
            return new ClientFailure(ExitCode.UNDECIDED, tried + "there is no such socket" + WITHOUT);
        }
        if (cause.contains("refused")) {
            return new ClientFailure(ExitCode.UNDECIDED, tried + "no process listens on it" + WITHOUT);
        }
        return new ClientFailure(ExitCode.UNDECIDED, tried + cause + WITHOUT);
    }
}
