package dev.gpuwarden.daemon.page;

import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.GuardedHandler;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The access control of the page, its JSON and its archives. It admits clients on this machine, clients that
 * --web.config.file admits by a certificate or a password, clients with the token of a file, and clients with a
 * Kubernetes token that the aggregator accepts for this page. The token's file is read at each request from
 * elsewhere, so that a new token is valid immediately. Thread-safe.
 */
public final class PageGuard implements GuardedHandler.Guard {

    private static final int MOST_TOKEN_BYTES = 4096;

    private static final System.Logger LOG = System.getLogger(PageGuard.class.getName());

    private final Optional<Path> tokenFile;
    private final Optional<TokenVerdictCache> reviews;
    private final AtomicBoolean failureLogged = new AtomicBoolean();

    /** @throws UserError if the file is set and holds no token */
    PageGuard(Optional<Path> tokenFile, Optional<TokenReviewer> review) {
        this.tokenFile = tokenFile;
        this.reviews = review.map(asked -> new TokenVerdictCache(asked, System::nanoTime));
        if (tokenFile.isPresent()) {
            try {
                byte[] unused = wanted(tokenFile.get());
            } catch (IOException e) {
                throw new UserError("--web.token-file: expected a file with a token, found " + tokenFile.get() + ": "
                        + FileErrors.why(e));
            }
        }
    }

    /** Returns the handler with additional threads for requests whose tokens are being checked. */
    public HttpHandler roomy(HttpHandler site) {
        return reviews.isPresent() ? new QueueingHandler(site, TokenVerdictCache.MOST_WAITING) : site;
    }

    /** Blocks for some seconds at most while a token is checked. */
    @Override
    public Optional<HttpAnswer> refused(Request request) throws InterruptedException {
        if (request.isLocal() || request.isProven()) {
            return Optional.empty();
        }
        Optional<HttpAnswer> no =
                tokenFile.isPresent() || reviews.isEmpty() ? refusedByFile(request) : Optional.of(unknown(""));
        boolean asks = no.isPresent() && reviews.isPresent() && AccessCodec.isToken(request.token());
        return asks ? refused(reviews.get().of(request.token(), request.from())) : no;
    }

    private Optional<HttpAnswer> refused(TokenReviewer.Verdict verdict) {
        return switch (verdict.outcome()) {
            case ALLOWED -> Optional.empty();
            case DENIED -> Optional.of(unknown(verdict.why() + "\n"));
            case UNKNOWN ->
                Optional.of(HttpAnswer.text(503, "the token cannot be checked: " + verdict.why() + "\n")
                        .with("Retry-After", "1"));
        };
    }

    private Optional<HttpAnswer> refusedByFile(Request request) {
        if (tokenFile.isEmpty()) {
            return Optional.of(HttpAnswer.text(
                    403,
                    "this page is for this machine: open it at 127.0.0.1, as over ssh -L or kubectl port-forward, or set"
                            + " --web.token-file or --web.config.file\n"));
        }
        try {
            byte[] wanted = wanted(tokenFile.get());
            byte[] given = request.token().getBytes(StandardCharsets.UTF_8);
            return MessageDigest.isEqual(given, wanted) ? Optional.empty() : Optional.of(unknown(""));
        } catch (IOException e) {
            if (failureLogged.compareAndSet(false, true)) {
                LOG.log(
                        Level.WARNING,
                        "the page is refused to all but this machine: --web.token-file " + tokenFile.get() + ": "
                                + FileErrors.why(e));
            }
            return Optional.of(HttpAnswer.text(503, "the token cannot be checked: the log of this node shows why\n"));
        }
    }

    private static byte[] wanted(Path file) throws IOException {
        if (Files.size(file) > MOST_TOKEN_BYTES) {
            throw new IOException("longer than " + MOST_TOKEN_BYTES + " bytes");
        }
        String token = Files.readString(file).strip();
        if (token.isEmpty()) {
            throw new IOException("an empty file");
        }
        return token.getBytes(StandardCharsets.UTF_8);
    }

    private HttpAnswer unknown(String why) {
        String file = tokenFile.isPresent() ? "expected the token of --web.token-file, as password or bearer\n" : "";
        String review = reviews.isPresent()
                ? "expected a Kubernetes token that may get nodehealths.gpuwarden.dev/page of this node, as password or"
                        + " bearer: kubectl create token NAME --audience " + AccessCodec.AUDIENCE + " --duration 10m\n"
                : "";
        return HttpAnswer.text(401, why + file + review)
                .with("WWW-Authenticate", "Basic realm=\"gpuwarden: any name, and the token\", charset=\"UTF-8\"");
    }

    /**
     * A handler behind a guard whose checks may block: it has threads for waiting requests, but answers no more requests
     * at a time than before.
     */
    record QueueingHandler(HttpHandler handler, int waiting, Semaphore answering) implements HttpHandler.Wrapper {

        QueueingHandler(HttpHandler handler, int waiting) {
            this(handler, waiting, new Semaphore(handler.limits().threads()));
        }

        @Override
        public HttpAnswer answer(Request request) throws InterruptedException {
            answering.acquire();
            try {
                return handler.answer(request);
            } finally {
                answering.release();
            }
        }

        @Override
        public Limits limits() {
            return handler.limits().withThreads(handler.limits().threads() + waiting);
        }
    }
}
