package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.testkit.TestClock;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A store in a folder of its own, with a clock that stands still. */
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
}
