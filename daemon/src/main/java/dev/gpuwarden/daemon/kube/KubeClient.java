package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.core.util.Threads;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A client of the API server. It sends one request at a time, each with a bounded time. The token and the
 * certificates are read for each request, since they are renewed while the daemon runs. Thread-safe; methods block
 * and end when interrupted.
 */
final class KubeClient implements AutoCloseable {

    /** Skips most of a Node's JSON, which this client does not use. */
    static final JsonReader USED = JsonReader.ofDepth(JsonReader.DEEPEST).without(Set.of("images", "annotations"));

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    /** The longest pause that a Retry-After of the server can cause. */
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(2);
    /** etcd takes objects of 1.5 MiB. */
    private static final int MOST_BYTES = 4 << 20;

    private static final int THREADS = 2;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int TOO_MANY = 429;

    private final KubeAccess access;
    private final boolean dryRun;
    private final Clock clock;
    private final KubeCounters counters;
    private final ThreadPoolExecutor threads;
    private final ReentrantLock turn = new ReentrantLock();
    private final CountDownLatch closed = new CountDownLatch(1);
    private KubeAccess.@Nullable KubeTls tls;
    private @Nullable HttpClient http;
    private long notBefore = System.nanoTime();

    /**
     * Creates a client, which connects on first use.
     *
     * @param dryRun true to have the server check each write, permissions and admission included, and store none
     */
    KubeClient(KubeAccess access, boolean dryRun, Clock clock, KubeCounters counters) {
        this.access = access;
        this.dryRun = dryRun;
        this.clock = clock;
        this.counters = counters;
        this.threads = Threads.pool(
                THREADS, new LinkedBlockingQueue<>(), Threads.daemon("gpuwarden-kube-http", Threads.SMALL_STACK_BYTES));
    }

    /**
     * Sends a request and returns the answer. The answer is empty if the object to be created exists already, or if
     * the Event to be changed is gone: Events last for an hour.
     *
     * @throws KubeException for every other answer, and for none
     */
    Optional<Map<?, ?>> ask(ApiRequest request) throws KubeException, InterruptedException {
        return ask(request, USED::readObject);
    }

    /**
     * Sends a request and returns the answer, as this reader reads it.
     *
     * @throws KubeException for every other answer, and for none
     */
    Map<?, ?> ask(ApiRequest request, JsonReader reader) throws KubeException, InterruptedException {
        Optional<Map<?, ?>> answer = ask(request, reader::readObject);
        return answer.orElse(Map.of());
    }

    /** Reads an answer. */
    private interface Form<T> {
        T read(InputStream in) throws IOException;
    }

    private <T> Optional<T> ask(ApiRequest request, Form<? extends T> form) throws KubeException, InterruptedException {
        turn.lockInterruptibly();
        try {
            pause();
            Optional<T> answer = answer(request, form);
            counters.worked(request.kind(), clock.instant());
            return answer;
        } catch (KubeException e) {
            counters.failed(request.kind(), e);
            // A disruption budget that refuses is no sign of a busy server.
            e.retryAfter()
                    .filter(any -> request.kind() != ApiRequest.Kind.removals)
                    .ifPresent(this::notBefore);
            throw e;
        } catch (IOException e) {
            KubeException unreachable = KubeException.unreachable(access, e);
            counters.failed(request.kind(), unreachable);
            throw unreachable;
        } finally {
            turn.unlock();
        }
    }

    private <T> Optional<T> answer(ApiRequest request, Form<? extends T> form)
            throws IOException, InterruptedException {
        HttpResponse<byte[]> response = exchange(message(request), info -> new BoundedBody(MOST_BYTES));
        int status = response.statusCode();
        boolean event = request.kind() == ApiRequest.Kind.events;
        boolean there = event && status == CONFLICT && request.method().equals("POST");
        boolean gone = event && status == NOT_FOUND && !request.method().equals("POST");
        if (there || gone) {
            return Optional.empty();
        }
        if (status >= 200 && status < 300) {
            return Optional.of(form.read(new ByteArrayInputStream(response.body())));
        }
        throw KubeException.answered(status, said(response.body()), request, access, retryAfter(status, response));
    }

    /**
     * Opens a watch, which the caller closes. Does not wait for other requests.
     *
     * @throws KubeException for every answer but 200, and for none
     */
    LineBody watch(ApiRequest request) throws KubeException, InterruptedException {
        try {
            HttpResponse<LineBody> response = exchange(message(request), info -> new LineBody(MOST_BYTES));
            int status = response.statusCode();
            if (status == 200) {
                counters.worked(request.kind(), clock.instant());
                return response.body();
            }
            try (LineBody body = response.body()) {
                byte[] said = body.next(PATIENCE).orElse(new byte[0]);
                throw KubeException.answered(status, said(said), request, access, retryAfter(status, response));
            }
        } catch (KubeException e) {
            counters.failed(request.kind(), e);
            throw e;
        } catch (IOException e) {
            KubeException unreachable = KubeException.unreachable(access, e);
            counters.failed(request.kind(), unreachable);
            throw unreachable;
        }
    }

    private HttpRequest message(ApiRequest request) throws IOException {
        HttpRequest.Builder message = HttpRequest.newBuilder(uri(request))
                .header("Accept", "application/json")
                .header("User-Agent", ApiRequest.MANAGER)
                .method(
                        request.method(),
                        request.body().isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(request.body()));
        if (!request.contentType().isEmpty()) {
            message.header("Content-Type", request.contentType());
        }
        String authorization = access.authorization();
        if (!authorization.isEmpty()) {
            message.header("Authorization", authorization);
        }
        return message.build();
    }

    /** Java's own timeout covers only the answer's headers. */
    private <T> HttpResponse<T> exchange(HttpRequest message, HttpResponse.BodyHandler<T> body)
            throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<T>> answer = http().sendAsync(message, body);
        try {
            return answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new IOException("no answer within " + PATIENCE.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
        } finally {
            answer.cancel(true);
        }
    }

    private URI uri(ApiRequest request) {
        boolean dry = dryRun && request.writes() && !request.path().contains("dryRun=");
        String query = request.path().contains("?") ? "&" : "?";
        return URI.create(access.server() + request.path() + (dry ? query + "dryRun=All" : ""));
    }

    /** Returns the Status of a Kubernetes error; empty for an answer of another program, such as a proxy. */
    private static Map<?, ?> said(byte[] body) {
        try {
            return USED.readObject(body);
        } catch (IOException e) {
            return Map.of();
        }
    }

    private static Optional<Duration> retryAfter(int status, HttpResponse<?> response) {
        if (status != TOO_MANY && status < 500) {
            return Optional.empty();
        }
        return response.headers()
                .firstValue("Retry-After")
                .filter(text -> text.matches("[0-9]{1,6}"))
                .map(text -> Duration.ofSeconds(Long.parseLong(text)));
    }

    private void notBefore(Duration pause) {
        Duration bounded = pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
        notBefore = System.nanoTime() + bounded.toNanos();
    }

    private void pause() throws InterruptedException {
        var unused = closed.await(notBefore - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private synchronized HttpClient http() throws IOException {
        KubeAccess.KubeTls now = new KubeAccess.KubeTls(access);
        HttpClient client = http;
        if (client == null || !now.same(tls)) {
            client = HttpClient.newBuilder()
                    .connectTimeout(PATIENCE)
                    .executor(threads)
                    .followRedirects(HttpClient.Redirect.NEVER)
                    .proxy(HttpClient.Builder.NO_PROXY)
                    .sslContext(now.context())
                    .version(HttpClient.Version.HTTP_1_1)
                    .build();
            // Java 17 cannot close the old client: it ends once it is unreachable.
            http = client;
            tls = now;
        }
        return client;
    }

    @Override
    public void close() {
        closed.countDown();
        threads.shutdownNow();
    }

    /** A bounded answer: a longer one is cut off and fails. */
    private static final class BoundedBody implements BodySubscriber<byte[]> {

        private final BodySubscriber<byte[]> all = BodySubscribers.ofByteArray();
        private final long most;
        private long seen;
        private @Nullable Subscription subscription;

        BoundedBody(long most) {
            this.most = most;
        }

        @Override
        public CompletionStage<byte[]> getBody() {
            return all.getBody();
        }

        @Override
        public void onSubscribe(Subscription given) {
            subscription = given;
            all.onSubscribe(given);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            seen += buffers.stream().mapToLong(ByteBuffer::remaining).sum();
            if (seen <= most) {
                all.onNext(buffers);
            } else if (subscription != null) {
                subscription.cancel();
                all.onError(new IOException("expected an answer of at most " + most + " bytes, but there are more"));
            }
        }

        @Override
        public void onError(Throwable cause) {
            all.onError(cause);
        }

        @Override
        public void onComplete() {
            all.onComplete();
        }
    }
}
