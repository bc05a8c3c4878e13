package dev.gpuwarden.cli.web;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.tls.ReloadedFiles;
import dev.gpuwarden.cli.tls.ServerCertificate;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLException;

/**
 * Access rules from the file of `--web.config.file`, and from the files of its certificates. Changes apply to the next
 * connection and the next login. Thread-safe.
 */
final class WebAccess {

    private record Rules(Map<String, String> users, Optional<ServerCertificate> certificate) {}

    private static final Rules OPEN = new Rules(Map.of(), Optional.empty());

    private final Optional<ReloadedFiles<Rules>> rules;

    /** @throws UserError where the file or a file that it names cannot be used */
    WebAccess(Optional<Path> file, LongSupplier nanoTime) {
        if (file.isEmpty()) {
            rules = Optional.empty();
            return;
        }
        try {
            rules = Optional.of(new ReloadedFiles<>("--web.config.file", seen -> load(seen, file.get()), nanoTime));
        } catch (IOException | GeneralSecurityException e) {
            throw new UserError("--web.config.file: " + e.getMessage());
        }
    }

    private static Rules load(ReloadedFiles.Seen seen, Path file) throws IOException, GeneralSecurityException {
        WebConfig config = WebConfig.read(seen.add(file));
        if (config.tls().isEmpty()) {
            return new Rules(config.users(), Optional.empty());
        }
        WebConfig.Tls tls = config.tls().get();
        return new Rules(
                config.users(),
                Optional.of(ServerCertificate.load(tls.files(), seen, builder -> context(builder, tls))));
    }

    private static SslContext context(SslContextBuilder builder, WebConfig.Tls tls) throws SSLException {
        builder.sslProvider(SslProvider.JDK).protocols(tls.protocols());
        if (!tls.ciphers().isEmpty()) {
            builder.ciphers(tls.ciphers());
        }
        return builder.build();
    }

    private Rules now() {
        return rules.isPresent() ? rules.get().get() : OPEN;
    }

    /** Returns the TLS context of the next connection; empty for plain HTTP. */
    Optional<SslContext> tls() {
        Optional<ServerCertificate> certificate = now().certificate();
        // No method reference: it would load the class without TLS too.
        return certificate.isPresent() ? Optional.of(certificate.get().context()) : Optional.empty();
    }

    /** Returns bcrypt hashes by user name; empty where no login is required. */
    Map<String, String> users() {
        return now().users();
    }
}
