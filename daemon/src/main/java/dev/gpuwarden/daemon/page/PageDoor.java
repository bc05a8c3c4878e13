package dev.gpuwarden.daemon.page;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.Answer;
import dev.gpuwarden.cli.web.GuardedSite;
import dev.gpuwarden.cli.web.Request;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Who may see the page, its JSON and its archives: clients on this machine, those that --web.config.file lets in by a certificate or a
 * password, and those that send the token of a file. The token's file is read at each request from elsewhere, so that a new token counts at once. Thread-safe.
 */
public final class PageDoor implements GuardedSite.Guard {

    private static final int MOST_TOKEN_BYTES = 4096;

    private static final System.Logger LOG = System.getLogger(PageDoor.class.getName());

    private final Optional<Path> tokenFile;
    private final AtomicBoolean failureLogged = new AtomicBoolean();

    /** Throws {@link UserError} where the file is given and holds no token. */
    PageDoor(Optional<Path> tokenFile) {
        this.tokenFile = tokenFile;
        if (tokenFile.isPresent()) {
            try {
                byte[] unused = wanted(tokenFile.get());
            } catch (IOException e) {
                throw new UserError("--web.token-file: expected a file with a token, found: " + reason(e));
            }
        }
    }

    @Override
    public Optional<Answer> refused(Request request) {
        if (request.isLocal() || request.isProven()) {
            return Optional.empty();
        }
        if (tokenFile.isEmpty()) {
            return Optional.of(Answer.text(
                    403,
                    "this page is for this machine: open it at 127.0.0.1, as over ssh -L or kubectl port-forward, or set"
                            + " --web.token-file or --web.config.file\n"));
        }
        try {
            byte[] wanted = wanted(tokenFile.get());
            byte[] given = request.token().getBytes(StandardCharsets.UTF_8);
            return MessageDigest.isEqual(given, wanted) ? Optional.empty() : Optional.of(unknown());
        } catch (IOException e) {
            if (failureLogged.compareAndSet(false, true)) {
                LOG.log(Level.WARNING, "the page is refused to all but this machine: --web.token-file: " + reason(e));
            }
            return Optional.of(Answer.text(503, "the token cannot be checked: the log of this node shows why\n"));
        }
    }

    /** Java's message of a missing file is the file's name alone. */
    private static String reason(IOException e) {
        return e instanceof NoSuchFileException ? e.getMessage() + ": no such file" : String.valueOf(e.getMessage());
    }

    private static byte[] wanted(Path file) throws IOException {
        if (Files.size(file) > MOST_TOKEN_BYTES) {
            throw new IOException(file + " is longer than " + MOST_TOKEN_BYTES + " bytes");
        }
        String token = Files.readString(file).strip();
        if (token.isEmpty()) {
            throw new IOException(file + " is empty");
        }
        return token.getBytes(StandardCharsets.UTF_8);
    }

    private static Answer unknown() {
        return Answer.text(401, "expected the token of --web.token-file, as password or bearer\n")
                .with("WWW-Authenticate", "Basic realm=\"gpuwarden: any name, and the token\", charset=\"UTF-8\"");
    }
}
