package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.tls.ServerCertificate;
import dev.gpuwarden.cli.tls.ServerCertificate.Clients;
import dev.gpuwarden.cli.tls.ServerCertificate.PemFiles;
import dev.gpuwarden.cli.web.ListenAddress;
import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslProvider;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the address for nodes and of their authentication. */
public final class IngestOptions {

    private static final System.Logger LOG = System.getLogger(IngestOptions.class.getName());

    private static final Pattern ACCOUNT = Pattern.compile("[a-z0-9][-a-z0-9]*/[a-z0-9][-a-z0-9.]*");

    /** Each has a place in every NodeHealth. */
    static final int MOST_MONITORS = 8;
    /** Limited, since their names are also those of field managers. */
    private static final int LONGEST_MONITOR = 100;

    @Option(
            names = "--ingest.listen",
            defaultValue = ":9403",
            paramLabel = "HOST:PORT",
            description = "Address for the reports of nodes, over TLS (default: ${DEFAULT-VALUE}).")
    String listen = ":9403";

    @Option(
            names = "--ingest.tls-cert",
            paramLabel = "FILE",
            description = "Certificate chain of the aggregator, in PEM. Needed. Read again when it changes.")
    @Nullable Path tlsCert;

    @Option(
            names = "--ingest.tls-key",
            paramLabel = "FILE",
            description = "Private key of --ingest.tls-cert, in PEM without a password.")
    @Nullable Path tlsKey;

    @Option(
            names = "--ingest.tls-client-ca",
            paramLabel = "FILE",
            description =
                    "Certificates of the CAs for nodes that have no token, in PEM. The name of such a node is in its"
                            + " certificate's DNS names, or else in its common name (default: tokens alone).")
    @Nullable Path tlsClientCa;

    @Option(
            names = "--ingest.audience",
            defaultValue = "gpuwarden-aggregator",
            paramLabel = "NAME",
            description = "The audience that tokens must be for (default: ${DEFAULT-VALUE}).")
    String audience = "gpuwarden-aggregator";

    @Option(
            names = "--ingest.service-account",
            defaultValue = "gpuwarden/gpuwarden",
            paramLabel = "NAMESPACE/NAME",
            description = "ServiceAccount of the daemons, whose tokens are accepted (default: ${DEFAULT-VALUE}).")
    String serviceAccount = "gpuwarden/gpuwarden";

    @Option(
            names = "--ingest.monitor",
            split = ",",
            paramLabel = "NAMESPACE/NAME",
            description =
                    "ServiceAccounts that may report faults of any node, with tokens for the same audience: those of"
                            + " programs that watch the whole cluster, at most " + MOST_MONITORS + " (default: none).")
    List<String> monitors = List.of();

    /** Checks the options. Throws {@link UserError} if one of them is not usable. */
    public void validate() {
        var unused = address();
        var unusedToo = tls();
        if (audience.isBlank()) {
            throw new UserError("--ingest.audience: expected a name, but it is empty");
        }
        var unusedAsWell = account();
        var unusedLast = monitors();
    }

    ListenAddress address() {
        return ListenAddress.parse(listen);
    }

    PemFiles tls() {
        if (tlsCert == null || tlsKey == null) {
            throw new UserError(
                    "--ingest.tls-cert and --ingest.tls-key are needed: nodes send their tokens over TLS alone");
        }
        return new PemFiles(
                tlsCert,
                tlsKey,
                Optional.ofNullable(tlsClientCa).map(ca -> new Clients(ca, ClientAuth.OPTIONAL, Set.of())));
    }

    /** Returns the account as `namespace:name`. */
    String account() {
        if (!ACCOUNT.matcher(serviceAccount).matches()) {
            throw new UserError("--ingest.service-account must be namespace/name, but was '" + serviceAccount + "'");
        }
        return serviceAccount.replace('/', ':');
    }

    Set<String> monitors() {
        for (String monitor : monitors) {
            if (!ACCOUNT.matcher(monitor).matches() || monitor.length() > LONGEST_MONITOR) {
                throw new UserError("--ingest.monitor must be namespace/name of at most " + LONGEST_MONITOR
                        + " characters, but was '" + monitor + "'");
            }
            if (monitor.equals(serviceAccount)) {
                throw new UserError(
                        "--ingest.monitor '" + monitor + "' is that of the daemons (--ingest.service-account):"
                                + " each of them could then speak for any node. Give the monitor a ServiceAccount of its own");
            }
        }
        Set<String> different = new TreeSet<>(monitors);
        if (different.size() > MOST_MONITORS) {
            throw new UserError("--ingest.monitor: at most " + MOST_MONITORS + ", but there are " + different.size());
        }
        return different;
    }

    /** Returns the TLS context. Throws {@link UserError} if the files are not usable. */
    SslContext context() {
        SslProvider provider = OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK;
        if (provider == SslProvider.JDK) {
            LOG.log(
                    Level.WARNING,
                    "Java's own TLS is used, which takes longer to accept a node: " + OpenSsl.unavailabilityCause());
        }
        return ServerCertificate.following(
                "--ingest.tls",
                tls(),
                builder -> GrpcSslContexts.configure(builder, provider).build(),
                System::nanoTime);
    }
}
