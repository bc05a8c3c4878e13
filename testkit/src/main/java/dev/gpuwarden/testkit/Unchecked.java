package dev.gpuwarden.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Runs work on files; its {@link IOException} becomes an {@link UncheckedIOException}. */
public final class Unchecked {

    /** Work without a result. */
    public interface Work {
        void run() throws IOException;
    }

    /** Work with a result. */
    public interface Source<T> {
        T get() throws IOException;
    }

    private Unchecked() {}

    public static void run(Work work) {
        get(() -> {
            work.run();
            return true;
        });
    }

    public static <T> T get(Source<T> source) {
        try {
            return source.get();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
