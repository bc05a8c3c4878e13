package dev.gpuwarden.cli.web;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.UserError;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Access rules from the file of `--web.config.file`. The files are checked for changes when a connection or a login
 * arrives, once a second at most. Valid changes apply immediately; files that cannot be used leave the old rules in
 * force. Thread-safe.
 */
final class WebAccess {

    private static final System.Logger LOG = System.getLogger(WebAccess.class.getName());

    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private record State(WebConfig config, Optional<SslContext> tls) {}

    private final Optional<Path> file;
    private final LongSupplier nanoTime;
    private State state = new State(WebConfig.NONE, Optional.empty());
    private Map<Path, Object> stamps = Map.of();
    private long lookedNanos;

    /** @throws UserError where the file or a file that it names cannot be used */
    WebAccess(Optional<Path> file, LongSupplier nanoTime) {
        this.file = file;
        this.nanoTime = nanoTime;
        this.lookedNanos = nanoTime.getAsLong();
        if (file.isPresent()) {
            try {
                state = load(file.get());
                stamps = stamps(file.get(), state.config());
            } catch (IOException | GeneralSecurityException e) {
                throw new UserError("--web.config.file: " + e.getMessage());
            }
        }
    }

    static WebAccess open() {
        return new WebAccess(Optional.empty(), System::nanoTime);
    }

    /** Returns the TLS context of the next connection; empty for plain HTTP. */
    synchronized Optional<SslContext> tls() {
        look();
        return state.tls();
    }

    /** Returns bcrypt hashes by user name; empty where no login is required. */
    synchronized Map<String, String> users() {
        look();
        return state.config().users();
    }

    private void look() {
        long now = nanoTime.getAsLong();
        if (file.isEmpty() || now - lookedNanos < LOOK_NANOS) {
            return;
        }
        lookedNanos = now;
        Map<Path, Object> seen = stamps(file.get(), state.config());
        if (seen.equals(stamps)) {
            return;
        }
        stamps = seen;
        try {
            state = load(file.get());
            stamps = stamps(file.get(), state.config());
            LOG.log(Level.INFO, "--web.config.file: the changed files are in force");
        } catch (IOException | GeneralSecurityException | UserError e) {
            LOG.log(
                    Level.WARNING,
                    "--web.config.file: the changed files cannot be used, the previous ones stay in force: "
                            + e.getMessage());
        }
    }

    private static State load(Path file) throws IOException, GeneralSecurityException {
        WebConfig config = WebConfig.read(file);
        Optional<SslContext> tls = Optional.empty();
        if (config.tls().isPresent()) {
            tls = Optional.of(ServerTls.context(config.tls().get()));
        }
        return new State(config, tls);
    }

    /**
     * Returns values that change with the files. In a Kubernetes volume, a link changes and leads to a file with
     * another inode.
     */
    private static Map<Path, Object> stamps(Path file, WebConfig config) {
        List<Path> files = new ArrayList<>(List.of(file));
        config.tls().ifPresent(tls -> {
            files.add(tls.certificate());
            files.add(tls.key());
            tls.clientCa().ifPresent(files::add);
        });
        Map<Path, Object> stamps = new LinkedHashMap<>();
        for (Path each : files) {
            try {
                BasicFileAttributes now = Files.readAttributes(each, BasicFileAttributes.class);
                stamps.put(each, List.of(now.lastModifiedTime(), now.size(), String.valueOf(now.fileKey())));
            } catch (IOException e) {
                stamps.put(each, FileErrors.why(e));
            }
        }
        return stamps;
    }
}
