package dev.gpuwarden.aggregator.provider;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.ListenAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for the provider that reboots and terminates machines. */
public final class ProviderOptions {

    private static final String NEEDED = "--janitor.reboot=provider";

    @Option(
            names = "--janitor.provider",
            paramLabel = "HOST:PORT",
            description = "Address of the provider for " + NEEDED + ": a gRPC service with NVSentinel's"
                    + " csp/v1alpha1 contract (default: none).")
    @Nullable String address;

    @Option(
            names = "--janitor.provider-ca",
            paramLabel = "FILE",
            description = "Certificates in PEM that the provider's must descend from; read for each request"
                    + " (default: those of the system).")
    @Nullable Path ca;

    @Option(
            names = "--janitor.provider-token-file",
            paramLabel = "FILE",
            description = "File with a bearer token for the provider; read for each request (default: none).")
    @Nullable Path token;

    @Option(
            names = "--janitor.provider-plaintext",
            description = "Call the provider without TLS, so that each program on the network between can change"
                    + " the request.")
    boolean plaintext;

    /**
     * Returns the address. Throws {@link UserError} for invalid options.
     *
     * @param wanted true if nodes are rebooted by the provider
     */
    public Optional<ProviderAddress> address(boolean wanted) {
        if (!wanted) {
            if (address != null || ca != null || token != null || plaintext) {
                throw new UserError("--janitor.provider*: expected with " + NEEDED + " alone");
            }
            return Optional.empty();
        }
        if (address == null) {
            throw new UserError(NEEDED + ": expected --janitor.provider=HOST:PORT, seen none");
        }
        if (plaintext && (ca != null || token != null)) {
            throw new UserError("--janitor.provider-plaintext: expected neither --janitor.provider-ca nor"
                    + " --janitor.provider-token-file, since a token without TLS is readable on the network");
        }
        ListenAddress parsed = parsed(address);
        return Optional.of(new ProviderAddress(
                parsed.host(), parsed.port(), plaintext, Optional.ofNullable(ca), Optional.ofNullable(token)));
    }

    private static ListenAddress parsed(String given) {
        try {
            ListenAddress parsed = ListenAddress.parse(given);
            if (!parsed.host().isEmpty() && parsed.port() > 0) {
                return parsed;
            }
        } catch (UserError e) {
            // The message is about an address to listen on.
        }
        throw new UserError("--janitor.provider: expected HOST:PORT or [IPv6]:PORT, seen \"" + given + "\"");
    }

    /** Returns the provider. Throws {@link UserError} for files that cannot be read. */
    public NodeProvider provider(boolean wanted) {
        Optional<ProviderAddress> found = address(wanted);
        if (found.isEmpty()) {
            return NodeProvider.none();
        }
        check("--janitor.provider-ca", ca);
        check("--janitor.provider-token-file", token);
        return new GrpcNodeProvider(found.get());
    }

    private static void check(String option, @Nullable Path file) {
        if (file != null && !Files.isReadable(file)) {
            throw new UserError(option + ": expected a file, seen none that can be read: " + file);
        }
    }
}
