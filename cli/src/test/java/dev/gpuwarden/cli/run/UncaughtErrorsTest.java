package dev.gpuwarden.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UncaughtErrorsTest {

    private final List<Integer> ends = new ArrayList<>();

    private void failing(Runnable body) throws InterruptedException {
        Thread thread = new Thread(body, "worker");
        thread.setUncaughtExceptionHandler(new UncaughtErrors(ends::add));
        thread.start();
        thread.join();
    }

    @Test
    void anErrorEndsTheProgram() throws InterruptedException {
        failing(() -> {
            throw new OutOfMemoryError("Cannot reserve 256 bytes of direct buffer memory");
        });
        assertThat(ends).containsExactly(1);
    }

    @Test
    void anExceptionDoesNot() throws InterruptedException {
        failing(() -> {
            throw new IllegalStateException("one request");
        });
        assertThat(ends).isEmpty();
    }
}
