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

    /** The undo of a reset that runs as a child, its end by force, and the requests to start units again. */
    private static final Duration LONGEST_CLOSE = ResetRun.UNDO.plusSeconds(6);

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

    /** Returns the time that {@link #close} may take: zero while no repair is in progress. */
    public Duration closing() {
        return loop.status().state() == RepairStatus.State.WORKING ? LONGEST_CLOSE : Duration.ZERO;
    }

    private void run() {
        try {
            takeTurns();
            // The interrupt that ends the turns must not end this too.
            var unused = Thread.interrupted();
            loop.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "this is a bug in gpuwarden; no more repairs until the daemon starts again", e);
        }
    }

    private void takeTurns() {
        try {
            while (!stopped) {
                wake.drainPermits();
                Duration pause = loop.step();
                long most = Math.min(pause.toMillis(), LONGEST_PAUSE.toMillis());
                var unused = wake.tryAcquire(Math.max(0, most), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Stops within 18 s: a reset that runs as a child undoes its steps, and then the start of stopped units is requested. */
    @Override
    public void close() {
        stopped = true;
        subscription.close();
        thread.interrupt();
        Threads.join(thread, LONGEST_CLOSE.toMillis());
    }
}
