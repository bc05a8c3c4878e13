package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.core.util.Threads;
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
import java.util.Optional;
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

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    /** The longest pause that a Retry-After of the server can cause. */
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(2);
    /** etcd takes objects of 1.5 MiB. */
    private static final int MOST_BYTES = 4 << 20;

    private static final int THREADS = 2;
    private static final long IDLE_SECONDS = 10;
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
        this.threads = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Threads.daemon("gpuwarden-kube-http", Threads.SMALL_STACK_BYTES));
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Sends a request and returns the answer. The answer is empty if the object to be created exists already, or if
     * the Event to be changed is gone: Events last for an hour.
     *
     * @throws KubeException for every other answer, and for none
     */
    Optional<JsonObject> ask(ApiRequest request) throws KubeException, InterruptedException {
        turn.lockInterruptibly();
        try {
            pause();
            Optional<JsonObject> answer = answer(request);
            counters.worked(request.kind(), clock.instant());
            return answer;
        } catch (KubeException e) {
            counters.failed(request.kind(), e);
            e.retryAfter().ifPresent(this::notBefore);
            throw e;
        } catch (IOException e) {
            KubeException unreachable = KubeException.unreachable(access, e);
            counters.failed(request.kind(), unreachable);
            throw unreachable;
        } finally {
            turn.unlock();
        }
    }

    private Optional<JsonObject> answer(ApiRequest request) throws IOException, InterruptedException {
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
        HttpResponse<byte[]> response = exchange(message.build());
        int status = response.statusCode();
        boolean there = status == CONFLICT && request.method().equals("POST");
        boolean gone = status == NOT_FOUND
                && request.kind() == ApiRequest.Kind.events
                && !request.method().equals("POST");
        if (there || gone) {
            return Optional.empty();
        }
        InputStream body = new java.io.ByteArrayInputStream(response.body());
        if (status >= 200 && status < 300) {
            return Optional.of(JsonObject.json(body));
        }
        throw KubeException.answered(status, message(body), request, access, retryAfter(status, response));
    }

    /** Java's own timeout covers only the answer's headers. */
    private HttpResponse<byte[]> exchange(HttpRequest message) throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<byte[]>> answer = http().sendAsync(message, info -> new BoundedBody(MOST_BYTES));
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
        String dry = dryRun && request.writes() ? "&dryRun=All" : "";
        return URI.create(access.server() + request.path() + dry);
    }

    /** Returns the message of a Kubernetes error; empty for an answer of another program, such as a proxy. */
    private static String message(InputStream body) {
        try {
            return JsonObject.json(body).text("message");
        } catch (IOException e) {
            return "";
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

    private HttpClient http() throws IOException {
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
