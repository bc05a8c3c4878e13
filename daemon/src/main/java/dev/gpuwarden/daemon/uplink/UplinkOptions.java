package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the uplink to an aggregator. */
public final class UplinkOptions {

    @Option(
            names = "--uplink.address",
            paramLabel = "HOST:PORT",
            description = "Report faults and events to the aggregator there, over TLS (default: off).")
    @Nullable String address;

    @Option(
            names = "--uplink.tls-ca",
            paramLabel = "FILE",
            description =
                    "Certificates of the authorities that sign the aggregator's, in PEM (default: those that Java trusts).")
    @Nullable Path tlsCa;

    @Option(
            names = "--uplink.tls-cert",
            paramLabel = "FILE",
            description = "Certificate chain that names this node, in PEM. Read for each connection.")
    @Nullable Path tlsCert;

    @Option(
            names = "--uplink.tls-key",
            paramLabel = "FILE",
            description = "Private key of --uplink.tls-cert, PKCS #8 in PEM.")
    @Nullable Path tlsKey;

    @Option(
            names = "--uplink.token-file",
            paramLabel = "FILE",
            description = "File with this node's service-account token. Read for each connection.")
    @Nullable Path tokenFile;

    @Option(names = "--uplink.insecure", description = "Report without TLS, to a loopback address alone.")
    boolean insecure;

    public boolean wanted() {
        return address != null;
    }

    /** Returns true if data to the aggregator is encrypted. */
    public boolean isEncrypted() {
        return wanted() && !insecure;
    }

    /** @throws UserError if they are not usable together */
    public void validate() {
        var unused = target();
    }

    private Optional<UplinkAddress> target() {
        if (address != null) {
            return Optional.of(UplinkAddress.of(this, address));
        }
        if (tlsCa != null || tlsCert != null || tlsKey != null || tokenFile != null || insecure) {
            throw new UserError("--uplink.tls-ca, --uplink.tls-cert, --uplink.tls-key, --uplink.token-file and"
                    + " --uplink.insecure are of no use without --uplink.address");
        }
        return Optional.empty();
    }

    /** Starts the uplink if an address is set. */
    public Optional<Uplink> start(UplinkNode node) {
        return target().map(target -> Uplink.start(node, target, Uplink.Timeouts.USUAL));
    }
}
