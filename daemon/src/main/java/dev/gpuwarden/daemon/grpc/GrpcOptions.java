package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the gRPC server: sockets, addresses, permissions. */
public final class GrpcOptions {

    /** The value that turns a socket off. */
    public static final String NONE = "none";

    static final String SOCKET = "/run/gpuwarden/gpuwarden.sock";
    private static final String EVENTS_SOCKET = "/var/run/nvsentinel/nvsentinel.sock";
    private static final Pattern MODE = Pattern.compile("0?[0-7]{3}");

    @Option(
            names = "--grpc.socket",
            paramLabel = "PATH",
            description =
                    "Unix socket for queries and events, or 'none' (default: " + SOCKET + " where it can be made).")
    @Nullable String socket;

    @Option(
            names = "--grpc.socket-mode",
            defaultValue = "0660",
            paramLabel = "MODE",
            description = "Octal file mode of the gRPC socket (default: ${DEFAULT-VALUE}).")
    String socketMode = "0660";

    @Option(
            names = "--grpc.socket-group",
            paramLabel = "GROUP",
            description =
                    "Group that owns the gRPC socket, by name; the daemon must be a member of it (default: the daemon's).")
    @Nullable String socketGroup;

    @Option(
            names = "--grpc.admin-uids",
            split = ",",
            paramLabel = "UID",
            description = "Users that may run checks and clear faults, beside root and the daemon's own user;"
                    + " none of them from inside a container.")
    List<Integer> adminUids = List.of();

    @Option(
            names = "--grpc.listen",
            paramLabel = "HOST:PORT",
            description =
                    "Answer queries over TCP too; without the three TLS files on a loopback address only (default: off).")
    @Nullable String listen;

    @Option(
            names = "--grpc.tls-cert",
            paramLabel = "FILE",
            description = "Certificate chain of this daemon for TCP, in PEM. Read again when it changes.")
    @Nullable Path tlsCert;

    @Option(
            names = "--grpc.tls-key",
            paramLabel = "FILE",
            description = "Private key of --grpc.tls-cert, in PEM without a password.")
    @Nullable Path tlsKey;

    @Option(
            names = "--grpc.tls-client-ca",
            paramLabel = "FILE",
            description =
                    "Certificates of the authorities that sign clients' certificates, in PEM. Clients without one are refused.")
    @Nullable Path tlsClientCa;

    @Option(
            names = "--events.socket",
            paramLabel = "PATH",
            description = "Unix socket on which other programs report events as they report to NVSentinel, or 'none'"
                    + " (default: " + EVENTS_SOCKET + " where it can be made).")
    @Nullable String eventsSocket;

    @Option(
            names = "--events.socket-mode",
            defaultValue = "0660",
            paramLabel = "MODE",
            description = "Octal file mode of the events socket; 0666 lets processes open it that do not run as root"
                    + " (default: ${DEFAULT-VALUE}).")
    String eventsSocketMode = "0660";

    @Option(
            names = ReporterRules.OPTION,
            split = ",",
            defaultValue = ReporterRules.DEFAULT,
            paramLabel = "REPORTER",
            description =
                    "Reporters that the events socket admits, beside administrators outside containers: uid:NUMBER,"
                            + " unit:NAME.service, pod:NAMESPACE, pod:* for each pod, or 'none' (default: ${DEFAULT-VALUE}).")
    List<String> reporters = List.of(ReporterRules.DEFAULT.split(","));

    /**
     * @param mode in the form "rw-rw----"
     * @param group the owning group; empty for the daemon's
     * @param given true if the user set the socket: then a failure to listen is an error
     */
    record Socket(Path path, String mode, java.util.Optional<String> group, boolean given) {}

    java.util.Optional<Socket> querySocket() {
        return socket(socket, SOCKET, "--grpc.socket-mode", socketMode, socketGroup);
    }

    java.util.Optional<Socket> eventSocket() {
        return socket(eventsSocket, EVENTS_SOCKET, "--events.socket-mode", eventsSocketMode, null);
    }

    private static java.util.Optional<Socket> socket(
            @Nullable String given, String otherwise, String option, String mode, @Nullable String group) {
        String permissions = permissions(option, mode);
        if (NONE.equals(given)) {
            return java.util.Optional.empty();
        }
        return java.util.Optional.of(new Socket(
                Path.of(given == null ? otherwise : given),
                permissions,
                java.util.Optional.ofNullable(group),
                given != null));
    }

    /** Converts an octal mode such as "0660" to "rw-rw----". */
    static String permissions(String option, String mode) {
        if (!MODE.matcher(mode).matches()) {
            throw new UserError(option + " must be three octal digits such as 0660, but was '" + mode + "'");
        }
        int bits = Integer.parseInt(mode, 8);
        StringBuilder text = new StringBuilder(9);
        for (int bit = 8; bit >= 0; bit--) {
            text.append((bits >> bit & 1) == 0 ? '-' : "xwr".charAt(bit % 3));
        }
        return text.toString();
    }

    /** Returns true if a socket or an address is configured. */
    public boolean wanted() {
        return querySocket().isPresent()
                || eventSocket().isPresent()
                || TcpListener.of(this).wanted();
    }

    Set<Integer> admins() {
        return Set.copyOf(adminUids);
    }
}
