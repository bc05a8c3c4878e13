package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The thread that repairs this server: it decides whenever faults change, carries out one repair at a time, and brings one to its
 * end that a boot or an earlier daemon left open. It sleeps while there is nothing to do.
 */
public final class ServerRepair implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ServerRepair.class.getName());

    /** For the requests to start units again. */
    private static final long CLOSE_MILLIS = 5_000;

    /** Faults wake the thread; time changes decisions too. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final ServerRepairLoop loop;
    private final Semaphore wake = new Semaphore(1);
    private final EventReader.Subscription subscription;
    private final Thread thread;
    private volatile boolean stopped;

    private ServerRepair(ServerRepairLoop loop, EventReader faults) {
        this.loop = loop;
        subscription = faults.listen(change -> wake.release());
        thread = Threads.daemon("gpuwarden-repair", this::run);
    }

    static ServerRepair start(ServerRepairLoop loop, EventReader faults) {
        ServerRepair repair = new ServerRepair(loop, faults);
        repair.thread.start();
        return repair;
    }

    public RepairStatus status() {
        return loop.status();
    }

    private void run() {
        try {
            while (!stopped) {
                wake.drainPermits();
                Duration pause = loop.step();
                long most = Math.min(pause.toMillis(), LONGEST_PAUSE.toMillis());
                var unused = wake.tryAcquire(Math.max(0, most), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "this is a bug in gpuwarden; no more repairs until the daemon starts again", e);
        }
    }

    /** Stops within five seconds: a reset that runs as a child ends, and the start of stopped units is requested. */
    @Override
    public void close() {
        stopped = true;
        subscription.close();
        thread.interrupt();
        Threads.join(thread, CLOSE_MILLIS);
    }
}
