package dev.gpuwarden.cli.run;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The request to stop a long-running command. */
public interface ShutdownSignal {

    Registration register();

    /** One running command. Close it after all resources are released. */
    interface Registration extends AutoCloseable {
        void await() throws InterruptedException;

        /**
         * Waits for the request.
         *
         * @param most longest time to wait
         * @return whether the command must stop
         */
        boolean await(Duration most) throws InterruptedException;

        /**
         * Makes the time longer in which the command ends after a signal: 3 s if this is not called. Call it once, as soon as
         * {@link #await()} returns.
         *
         * @param more time beyond those 3 s
         */
        default void extend(Duration more) {}

        @Override
        void close();
    }

    /**
     * Returns the signals that stop this process: SIGTERM and SIGINT. Java runs shutdown hooks on them and ends when
     * the last hook returns. SIGHUP counts too, unless the process ignores it from the start, as the launcher arranges
     * where there is no terminal.
     */
    static ShutdownSignal onSignal() {
        return () -> {
            CountDownLatch asked = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(1);
            AtomicLong moreMillis = new AtomicLong();
            Thread hook = new Thread(
                    () -> {
                        asked.countDown();
                        awaitQuietly(done, moreMillis);
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
                public void extend(Duration more) {
                    moreMillis.set(more.toMillis());
                }

                @Override
                public void close() {
                    done.countDown();
                }
            };
        };
    }

    /** Returns true once a signal stops this process, also before the command has seen it. */
    static boolean inProgress() {
        Thread probe = new Thread(() -> {}, "gpuwarden-probe");
        try {
            // The only public sign: hooks are accepted until the shutdown begins.
            Runtime.getRuntime().addShutdownHook(probe);
            Runtime.getRuntime().removeShutdownHook(probe);
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    private static void awaitQuietly(CountDownLatch done, AtomicLong moreMillis) {
        try {
            if (done.await(3, TimeUnit.SECONDS) || done.await(moreMillis.get(), TimeUnit.MILLISECONDS)) {
                // Main ends the process with the command's exit code during this wait; an earlier return would make it
                // 143.
                new CountDownLatch(1).await(500, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
