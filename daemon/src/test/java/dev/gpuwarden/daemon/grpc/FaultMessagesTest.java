package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.FaultTable.Change;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.HealthEvent;
import java.time.Instant;
import java.util.AbstractList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class FaultMessagesTest {

    private final AtomicInteger looks = new AtomicInteger();
    private final FaultTable table = new FaultTable();
    private final AtomicReference<List<Fault>> published = new AtomicReference<>(List.of());
    private final FaultMessages messages = new FaultMessages(published::get);

    private Change raise(String code) {
        HealthEvent event = ServedNode.xid(code).entities(List.of()).build();
        Change change = table.apply(event, 1, Instant.EPOCH);
        List<Fault> faults = table.faults();
        published.set(new AbstractList<>() {
            @Override
            public Fault get(int index) {
                looks.incrementAndGet();
                return faults.get(index);
            }

            @Override
            public int size() {
                return faults.size();
            }
        });
        return change;
    }

    @Test
    void allFaultsAreConvertedOnceForAllWatchersAndEvents() {
        for (int i = 0; i < 500; i++) {
            raise("code-" + i);
        }
        Change last = raise("79");
        for (int watcher = 0; watcher < 64; watcher++) {
            assertThat(messages.change(last).getFaultsList())
                    .singleElement()
                    .satisfies(
                            fault -> assertThat(fault.getKey().getErrorCode()).isEqualTo("79"));
        }
        assertThat(looks.get()).isEqualTo(501);
        assertThat(messages.all()).isSameAs(messages.all());
        assertThat(messages.all().faults()).hasSize(501);
    }

    @Test
    void aNewlyPublishedListIsSent() {
        raise("13");
        assertThat(messages.all().faults()).hasSize(1);
        Change second = raise("79");
        assertThat(messages.change(second).getFaultsList()).hasSize(1);
        assertThat(messages.all().faults()).hasSize(2);
    }

    @Test
    void endedFaultsAreNamedByTheirKeysOnly() {
        Change raised = raise("79");
        Change cleared = new Change(Effect.CLEARED, raised.keys());
        published.set(List.of());
        assertThat(messages.change(cleared).getClearedList()).hasSize(1);
        assertThat(messages.change(raised).getFaultsList()).isEmpty();
        assertThat(messages.change(new Change(Effect.REPEATED, Set.of())).getFaultsList())
                .isEmpty();
    }
}
