package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.util.LoopThread;
import java.lang.System.Logger.Level;
import java.time.Duration;
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
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final ServerRepairLoop loop;
    private final LoopThread thread = new LoopThread("gpuwarden-repair", this::turn).atEnd(this::end);
    private final EventReader.Subscription subscription;
    /** Used by the thread alone. */
    private boolean broken;

    /** Starts the thread. */
    ServerRepair(ServerRepairLoop loop, EventReader faults) {
        this.loop = loop;
        subscription = faults.listen(change -> thread.wake());
        thread.start();
    }

    public RepairStatus status() {
        return loop.status();
    }

    /** Returns the time that {@link #close} may take: zero while no repair is in progress. */
    public Duration closing() {
        return loop.status().state() == RepairStatus.State.WORKING ? LONGEST_CLOSE : Duration.ZERO;
    }

    private long turn() throws InterruptedException {
        try {
            return Math.min(loop.step().toNanos(), LONGEST_PAUSE_NANOS);
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "this is a bug in gpuwarden; no more repairs until the daemon starts again", e);
            broken = true;
            return LoopThread.ENDED;
        }
    }

    private void end() {
        try {
            if (!broken) {
                loop.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Stops within 18 s: a reset that runs as a child undoes its steps, and then the start of stopped units is requested. */
    @Override
    public void close() {
        subscription.close();
        thread.interrupt(LONGEST_CLOSE);
    }
}
