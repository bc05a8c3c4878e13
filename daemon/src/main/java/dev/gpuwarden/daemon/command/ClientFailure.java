package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import io.grpc.Status;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Locale;

/** Why the daemon did not do what it was asked for, for people, and the command's exit code then. */
record ClientFailure(int exitCode, String message) {

    private static final String WITHOUT = "; 'gpuwarden scan' works without a daemon";

    static ClientFailure of(Status status, Path socket) {
        String said = status.getDescription() == null ? "no reason" : status.getDescription();
        return switch (status.getCode()) {
            case UNAVAILABLE, UNKNOWN -> unreachable(socket, said);
            case PERMISSION_DENIED, UNAUTHENTICATED ->
                new ClientFailure(ExitCode.NOT_FIT, "the daemon does not allow it: " + said);
            case NOT_FOUND -> new ClientFailure(ExitCode.NOT_FIT, said);
            case INVALID_ARGUMENT -> new ClientFailure(ExitCode.USAGE, "the daemon refuses the request: " + said);
            case UNIMPLEMENTED ->
                new ClientFailure(
                        ExitCode.UNDECIDED,
                        "what listens on " + socket
                                + " does not know this request: a daemon of another version, or no gpuwarden daemon");
            case DEADLINE_EXCEEDED ->
                new ClientFailure(ExitCode.UNDECIDED, "the daemon on " + socket + " did not answer in time" + WITHOUT);
            default ->
                new ClientFailure(
                        ExitCode.UNDECIDED,
                        "the daemon on " + socket + " failed: "
                                + status.getCode()
                                        .name()
                                        .toLowerCase(Locale.ROOT)
                                        .replace('_', ' ') + ": " + said);
        };
    }

    /** Tries the socket once more without gRPC, whose own words are about addresses and channels. */
    private static ClientFailure unreachable(Path socket, String said) {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            probe.connect(UnixDomainSocketAddress.of(socket));
            return new ClientFailure(
                    ExitCode.UNDECIDED, "what listens on " + socket + " ended the call: " + said + WITHOUT);
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
            return new ClientFailure(ExitCode.UNDECIDED, tried + "nobody listens there any more" + WITHOUT);
        }
        return new ClientFailure(ExitCode.UNDECIDED, tried + cause + WITHOUT);
    }
}
