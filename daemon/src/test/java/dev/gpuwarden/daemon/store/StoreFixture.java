package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.StoredEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A store in a folder of its own, with a clock that stands still. */
@Timeout(60)
abstract class StoreFixture {

    @TempDir
    Path folder;

    final TestClock clock = new TestClock();
    private EventStore store;

    /** The store; opened when it is first asked for. */
    EventStore store() {
        if (store == null) {
            store = EventStore.open(settings(), clock);
        }
        return store;
    }

    StoreSettings settings() {
        return StoreSettings.at(file());
    }

    Path file() {
        return folder.resolve("new/events.db");
    }

    EventStore reopen() {
        close();
        return store();
    }

    @AfterEach
    void close() {
        if (store != null) {
            store.close();
            store = null;
        }
    }

    List<StoredEvent> all() {
        return store().events(EventFilter.all());
    }

    /** For what another thread does in its own time. */
    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        try {
            while (!condition.getAsBoolean()) {
                if (System.nanoTime() - end > 0) {
                    throw new AssertionError(new TimeoutException());
                }
                TimeUnit.MILLISECONDS.sleep(5);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
