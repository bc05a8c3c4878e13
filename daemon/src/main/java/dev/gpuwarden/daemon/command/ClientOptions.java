package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.daemon.grpc.GrpcOptions;
import dev.gpuwarden.daemon.grpc.NodeClient;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The daemon to query. The setting is the daemon's own, so that one configuration file serves both. */
public final class ClientOptions {

    @Option(
            names = "--grpc.socket",
            paramLabel = "PATH",
            description = "Unix socket of the daemon (default: /run/gpuwarden/gpuwarden.sock).")
    @Nullable String socket;

    /** Returns the socket; empty if the daemon is configured to have none. */
    Optional<Path> socket() {
        if (socket == null) {
            return Optional.of(NodeClient.DEFAULT_SOCKET);
        }
        try {
            return GrpcOptions.NONE.equals(socket) ? Optional.empty() : Optional.of(Path.of(socket));
        } catch (InvalidPathException e) {
            throw new UserError("--grpc.socket: expected a path, but was '" + socket + "'");
        }
    }

    /** @throws UserError if there is none */
    Path required() {
        return socket().orElseThrow(() ->
                new UserError("--grpc.socket is 'none', so the daemon answers no command; set its socket"));
    }
}
