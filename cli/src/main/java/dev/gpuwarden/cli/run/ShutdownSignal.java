package dev.gpuwarden.cli.run;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Tells a long-running command when to stop. */
public interface ShutdownSignal {

    Registration register();

    /** One command that runs. Closed when it has let go of everything. */
    interface Registration extends AutoCloseable {
        void await() throws InterruptedException;

        /** Waits so long at most; returns whether it is to stop. */
        boolean await(Duration most) throws InterruptedException;

        @Override
        void close();
    }

    /**
     * On SIGTERM and SIGINT, which Java answers by running shutdown hooks and ending when the last returns; on SIGHUP too, unless it
     * is ignored from the start, as the launcher has it where no terminal is.
     */
    static ShutdownSignal onSignal() {
        return () -> {
            CountDownLatch asked = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(1);
            Thread hook = new Thread(
                    () -> {
                        asked.countDown();
                        awaitQuietly(done);
                    },
                    "gpuwarden-stop");
            Runtime.getRuntime().addShutdownHook(hook);
            return new Registration() {
                @Override
                public void await() throws InterruptedException {
                    asked.await();
                }

                @Override
                public boolean await(Duration most) throws InterruptedException {
                    return asked.await(most.toNanos(), TimeUnit.NANOSECONDS);
                }

                @Override
                public void close() {
                    done.countDown();
                }
            };
        };
    }

    private static void awaitQuietly(CountDownLatch done) {
        try {
            if (done.await(3, TimeUnit.SECONDS)) {
                // Main ends the process with the command's exit code meanwhile; returning first would make it 143.
                new CountDownLatch(1).await(500, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
