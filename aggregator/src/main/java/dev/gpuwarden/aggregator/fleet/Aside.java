package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.core.util.Threads;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Asks the cluster while its caller asks it something else. */
final class Aside<T> {

    private final FutureTask<T> answer;

    public interface Question<T> {
        T ask() throws ApiException, InterruptedException;
    }

    private Aside(Question<T> question) {
        this.answer = new FutureTask<>(question::ask);
    }

    static <T> Aside<T> begin(Question<T> question) {
        Aside<T> aside = new Aside<>(question);
        Thread thread = Threads.daemon("gpuwarden-aside", aside.answer);
        thread.start();
        return aside;
    }

    /** Blocks until it is answered. */
    T get() throws ApiException, InterruptedException {
        try {
            return answer.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ApiException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
