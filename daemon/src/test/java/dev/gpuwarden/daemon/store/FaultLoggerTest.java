package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.PartNames;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FaultLoggerTest {

    @TempDir
    Path folder;

    private final List<String> lines = Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong clock = new AtomicLong();
    private final AtomicInteger told = new AtomicInteger();
    private EventStore store;

    @BeforeEach
    void open() {
        store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
        var unused = new FaultLogger(
                store, () -> new PartNames(List.of()), (level, text) -> lines.add(level + " " + text), clock::get);
        var unusedToo = store.listen(event -> told.incrementAndGet());
    }

    @AfterEach
    void close() {
        store.close();
    }

    /** Waits for the listeners, which run after the sender has its receipt. */
    private void accept(HealthEvent event) {
        int before = told.get();
        store.accept(event);
        while (told.get() == before) {
            LockSupport.parkNanos(100_000);
        }
    }

    private static HealthEvent.Builder xid(String code) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .fatal(true)
                .errorCodes(List.of(code))
                .entities(List.of(new Entity(Entity.PCI, "0000:89:00")))
                .message("NVRM: Xid " + code);
    }

    @Test
    void anXidIsALineWhenItComesAndWhenItGoesAndNotInBetween() {
        accept(xid("79").build());
        accept(xid("79").build());
        accept(xid("79").healthy(true).fatal(false).message("gone").build());
        assertThat(lines)
                .containsExactly(
                        "ERROR fatal fault SysLogsXIDError 79 of 0000:89:00, from syslog-health-monitor: NVRM: Xid 79",
                        "INFO fault over: SysLogsXIDError 79 of 0000:89:00, from syslog-health-monitor: gone");
    }

    @Test
    void aFloodIsAFewLinesAndANumber() {
        for (int i = 0; i < FaultLogger.MOST_OF_AGENT + 5; i++) {
            accept(xid("c" + i).build());
        }
        assertThat(lines).hasSize(FaultLogger.MOST_OF_AGENT);
        clock.addAndGet(TimeUnit.MINUTES.toNanos(1));
        accept(xid("79").build());
        assertThat(lines.get(FaultLogger.MOST_OF_AGENT))
                .startsWith("WARNING 5 faults that came or went were not logged");
        assertThat(lines.get(FaultLogger.MOST_OF_AGENT + 1)).contains("SysLogsXIDError 79");
    }

    @Test
    void aReportersFloodHidesNoXid() {
        for (int i = 0; i < FaultLogger.MOST + 5; i++) {
            HealthEvent.Builder noise =
                    HealthEvent.of("noisy-" + i % 7, "GPU", "Noise").errorCodes(List.of("c" + i));
            accept(noise.build());
        }
        for (int i = 0; i < FaultLogger.MOST_OF_AGENT + 5; i++) {
            accept(HealthEvent.of("loud", "GPU", "Noise")
                    .fatal(true)
                    .errorCodes(List.of("c" + i))
                    .build());
        }
        accept(xid("79").build());
        assertThat(lines.get(lines.size() - 1)).contains("SysLogsXIDError 79");
        assertThat(lines).hasSize(FaultLogger.MOST + FaultLogger.MOST_OF_AGENT + 1);
    }
}
