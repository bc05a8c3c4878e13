package dev.gpuwarden.daemon.uplink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.checkpoint.PodSignals;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.daemon.uplink.TestAggregator.Connection;
import dev.gpuwarden.daemon.uplink.TestAggregator.Kept;
import dev.gpuwarden.daemon.vram.kube.VramRequests;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** An uplink between a real store and an aggregator of the test. */
abstract class UplinkFixture {

    static final Duration RETRY = Duration.ofMillis(50);
    static final Uplink.Timeouts QUICK = new Uplink.Timeouts(
            RETRY,
            Uplink.Timeouts.USUAL.longestRetry(),
            Uplink.Timeouts.USUAL.welcome(),
            Uplink.Timeouts.USUAL.acknowledgement(),
            Uplink.Timeouts.USUAL.leaving());

    @TempDir
    Path folder;

    final Kept kept = new Kept();
    EventStore store;
    volatile List<GpuIdentity> gpus = List.of();

    @BeforeEach
    void open() {
        store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
    }

    @AfterEach
    void close() {
        store.close();
        assertThat(kept.violations).isEmpty();
    }

    HealthEvent.Builder event(String id) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .id(id)
                .errorCodes(List.of("79"))
                .entities(List.of(Entity.gpu("GPU-" + id)));
    }

    void report(String... ids) {
        for (String id : ids) {
            store.accept(event(id).fatal(true).message("reported as " + id).build());
        }
    }

    TestAggregator aggregator(int port) throws Exception {
        return new TestAggregator(kept, port, null);
    }

    Uplink uplink(int port, Uplink.Timeouts patience) {
        UplinkOptions options = new UplinkOptions();
        options.insecure = true;
        return uplink(options, "127.0.0.1:" + port, patience);
    }

    UplinkNode node() {
        return new UplinkNode(
                "node-1",
                "boot-1",
                "1.2.3",
                store,
                store,
                Clock.systemUTC(),
                () -> gpus,
                () -> Reading.absent(Absence.NO_DATA),
                (id, uid, signal) -> new PodSignals.Answer(0, "off"),
                new TokenReviewRequests(),
                new VramRequests(""));
    }

    Uplink uplink(UplinkOptions options, String address, Uplink.Timeouts patience) {
        return Uplink.start(node(), UplinkAddress.of(options, address), patience);
    }

    Connection last() {
        return kept.connections.get(kept.connections.size() - 1);
    }

    boolean reported(int connections) {
        return kept.connections.size() >= connections && !last().tellings.isEmpty();
    }
}
