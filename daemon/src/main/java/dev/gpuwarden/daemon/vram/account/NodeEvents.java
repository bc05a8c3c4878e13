package dev.gpuwarden.daemon.vram.account;

import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.api.kube.FaultText;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.kube.NodeApi;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Kubernetes Events about VRAM. They are Events of the Node: the daemon's account may write those of its own Node alone. An Event
 * that cannot be written is logged, and stops nothing. Thread-safe; methods do not block.
 */
final class NodeEvents implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(NodeEvents.class.getName());

    private static final int LONGEST = 1024;
    private static final int MOST_WAITING = 32;

    private final NodeApi api;
    private final ThreadPoolExecutor writer;
    private boolean failed;

    NodeEvents(NodeApi api) {
        this.api = api;
        this.writer = Threads.pool(1, new LinkedBlockingQueue<>(MOST_WAITING), Threads.daemon("gpuwarden-vram-events"));
        writer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    }

    void warn(String reason, String text) {
        Instant now = Instant.now();
        long number = TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + now.getNano() / 1000;
        EventObject event =
                EventObject.warning(EventObject.name(api.name(), number), reason, FaultText.line(text, LONGEST), now);
        writer.execute(() -> write(event));
    }

    private void write(EventObject event) {
        try {
            api.event(event);
            failed = false;
        } catch (IOException e) {
            if (!failed) {
                LOG.log(Level.WARNING, "an Event about VRAM cannot be written: " + e.getMessage());
            }
            failed = true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        writer.shutdownNow();
    }
}
