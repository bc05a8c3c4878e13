package dev.gpuwarden.core.util;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Daemon threads with names: they do not keep the program running, and a thread dump shows their purpose. */
public final class Threads {

    /**
     * Stack size of a thread with shallow calls. The default of a megabyte is only reserved, but some limits count
     * reservations.
     */
    public static final long SMALL_STACK_BYTES = 256 * 1024;

    private static final long IDLE_SECONDS = 10;

    private Threads() {}

    /** Returns a daemon thread that is not started yet. */
    public static Thread daemon(String name, Runnable task) {
        return daemon(name, 0, task);
    }

    /** @param stackBytes 0 for the JVM's default */
    public static Thread daemon(String name, long stackBytes, Runnable task) {
        Thread thread = new Thread(null, task, name, stackBytes);
        thread.setDaemon(true);
        return thread;
    }

    /** Returns a factory of daemon threads that all have this name. */
    public static ThreadFactory daemon(String name) {
        return task -> daemon(name, task);
    }

    /** @param stackBytes 0 for the JVM's default */
    public static ThreadFactory daemon(String name, long stackBytes) {
        return task -> daemon(name, stackBytes, task);
    }

    /** Returns a factory of daemon threads `name-1`, `name-2` and so on. */
    public static ThreadFactory numbered(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> daemon(name + "-" + number.incrementAndGet(), task);
    }

    /**
     * Returns a pool whose threads come with the work and end when they are idle. It refuses work beyond the queue.
     *
     * @param most threads at one time
     */
    public static ThreadPoolExecutor pool(int most, BlockingQueue<Runnable> queue, ThreadFactory threads) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(most, most, IDLE_SECONDS, TimeUnit.SECONDS, queue, threads);
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Blocks until the thread has ended, this long at most. An interrupt ends the wait and stays set. */
    public static void join(Thread thread, long millis) {
        try {
            thread.join(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
