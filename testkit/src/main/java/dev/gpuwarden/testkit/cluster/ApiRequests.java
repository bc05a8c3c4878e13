package dev.gpuwarden.testkit.cluster;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Sends requests of the administrator to an API server, many at a time. Thread-safe. */
final class ApiRequests {

    /** An API server on two cores is not faster with more. */
    private static final int AT_A_TIME = 64;

    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int NOT_FOUND = 404;

    private final String url;
    private final HttpClient client;
    private final Semaphore free = new Semaphore(AT_A_TIME);

    ApiRequests(ControlPlane plane) {
        this.url = plane.url();
        this.client = HttpClient.newBuilder()
                .sslContext(ClientTls.context(plane, true))
                .build();
    }

    CompletableFuture<Void> post(String path, String json) {
        return send(
                request(path).header("Content-Type", "application/json").POST(BodyPublishers.ofString(json)), false);
    }

    CompletableFuture<Void> patch(String path, String json) {
        return send(patching(path, json), false);
    }

    /** Succeeds where the object does not exist. */
    CompletableFuture<Void> patchIfThere(String path, String json) {
        return send(patching(path, json), true);
    }

    private HttpRequest.Builder patching(String path, String json) {
        return request(path)
                .header("Content-Type", "application/merge-patch+json")
                .method("PATCH", BodyPublishers.ofString(json));
    }

    /** Succeeds where the object does not exist. */
    CompletableFuture<Void> delete(String path) {
        return send(request(path).DELETE(), true);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url + path)).timeout(LIMIT);
    }

    private CompletableFuture<Void> send(HttpRequest.Builder builder, boolean orNothing) {
        HttpRequest request = builder.build();
        return client.sendAsync(request, BodyHandlers.ofString()).thenAccept(response -> {
            int code = response.statusCode();
            if (code / 100 != 2 && !(orNothing && code == NOT_FOUND)) {
                throw new IllegalStateException(request.method() + " "
                        + request.uri().getPath() + ": answered " + code + ": " + response.body());
            }
        });
    }

    /**
     * Runs a request for each number below the count; blocks until all are done.
     *
     * @throws IllegalStateException with the first failure, after which no request is started
     */
    void all(int count, IntFunction<CompletableFuture<Void>> work) {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        int begun = 0;
        try {
            while (begun < count && failure.get() == null) {
                free.acquire();
                work.apply(begun).whenComplete((done, error) -> {
                    if (error != null) {
                        failure.compareAndSet(null, error);
                    }
                    free.release();
                });
                begun++;
            }
            free.acquire(AT_A_TIME);
            free.release(AT_A_TIME);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted after " + begun + " of " + count + " requests", e);
        }
        Throwable first = failure.get();
        if (first != null) {
            Throwable cause =
                    first instanceof CompletionException && first.getCause() != null ? first.getCause() : first;
            throw new IllegalStateException(String.valueOf(cause.getMessage()), cause);
        }
    }
}
