package dev.gpuwarden.daemon.uplink;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.KnownGpus;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UplinkTest extends UplinkFixture {

    @Test
    void whileTheAggregatorIsAwayNothingIsLostAndNothingComesTwice() throws Exception {
        TestAggregator first = aggregator(0);
        try (Uplink uplink = uplink(first.port(), QUICK)) {
            until(() -> reported(1));
            assertThat(last().hello.getNodeName()).isEqualTo("node-1");
            assertThat(last().hello.getBootId()).isEqualTo("boot-1");
            assertThat(last().hello.getVersion()).isEqualTo("1.2.3");
            assertThat(last().tellings).containsExactly(List.of());
            report("a", "b");
            until(() -> uplink.stats().sent() == 2);
            first.close();
            report("c", "d");
            store.accept(event("e")
                    .healthy(true)
                    .entities(List.of(Entity.gpu("GPU-a")))
                    .build());
            // The first failure may be the stream that was cut, the next is a connection refused.
            until(() -> uplink.stats().lastError().contains("UNAVAILABLE"));
            assertThat(uplink.stats().failures()).isPositive();
            assertThat(uplink.stats().lag().waiting()).isEqualTo(3);
            try (TestAggregator second = aggregator(first.port())) {
                until(() -> uplink.stats().sent() == 5);
                assertThat(second.port()).isEqualTo(first.port());
                assertThat(kept.ids).containsExactly("a", "b", "c", "d", "e");
                // All faults, not only the new ones; the events add none that is not among them.
                assertThat(last().faultEntities()).containsExactly("GPU-b", "GPU-c", "GPU-d");
                assertThat(last().asOf).isEqualTo(kept.acknowledged);
                until(() -> uplink.stats().lastError().isEmpty());
                assertThat(uplink.stats().lag().waiting()).isZero();
            }
        }
    }

    @Test
    void theNextDaemonContinuesAndItsFaultsIncludeEarlierEvents() throws Exception {
        try (TestAggregator aggregator = aggregator(0)) {
            uplink(aggregator.port(), QUICK).close();
            report("a", "b");
            try (Uplink uplink = uplink(aggregator.port(), QUICK)) {
                until(() -> uplink.stats().sent() == 2);
                assertThat(kept.ids).containsExactly("a", "b");
                assertThat(last().asOf).isEqualTo(kept.acknowledged);
            }
        }
    }

    @Test
    void onlyWhatWasNotAcknowledgedIsSentAgain() throws Exception {
        kept.acknowledges = false;
        TestAggregator first = aggregator(0);
        try (Uplink uplink = uplink(first.port(), QUICK)) {
            until(() -> reported(1));
            report("a", "b");
            until(() -> last().ids.size() == 2);
            last().acknowledgeFirst();
            until(() -> uplink.stats().lag().waiting() == 1);
            first.close();
            kept.acknowledges = true;
            try (TestAggregator second = aggregator(first.port())) {
                until(() -> uplink.stats().sent() == 2);
                assertThat(second.port()).isEqualTo(first.port());
                assertThat(last().ids).containsExactly("b");
            }
        }
    }

    @Test
    void eventsThatTheAggregatorHasAreNotSent() throws Exception {
        kept.acknowledges = false;
        TestAggregator first = aggregator(0);
        try (Uplink uplink = uplink(first.port(), QUICK)) {
            until(() -> reported(1));
            report("a", "b");
            until(() -> last().ids.size() == 2);
            // The aggregator has both, but its answer was lost. A greater number is not accepted.
            first.close();
            kept.acknowledged = Long.MAX_VALUE;
            kept.acknowledges = true;
            try (TestAggregator second = aggregator(first.port())) {
                until(() -> reported(2) && uplink.stats().lag().waiting() == 0);
                report("c");
                until(() -> uplink.stats().sent() == 1);
                assertThat(second.port()).isEqualTo(first.port());
                assertThat(last().ids).containsExactly("c");
            }
        }
    }

    /** Acknowledges one event after the other; the node must fill the window each time. */
    private void acknowledgeEach(int events, int window) {
        for (int i = 0; i < events; i++) {
            int wanted = Math.min(events, i + window);
            until(() -> last().ids.size() == wanted);
            last().acknowledgeFirst();
        }
    }

    @Test
    void aSlowAggregatorIsNeverGivenMoreThanItCanTake() throws Exception {
        kept.acknowledges = false;
        kept.window = 3;
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> reported(1));
            for (int i = 0; i < 40; i++) {
                report("e" + i);
            }
            acknowledgeEach(40, 3);
            until(() -> uplink.stats().sent() == 40);
            assertThat(last().mostOpen).isEqualTo(3);
            assertThat(kept.ids).hasSize(40).doesNotHaveDuplicates();
        }
    }

    @Test
    void onlyAFewLargeEventsAreOnTheirWay() throws Exception {
        kept.acknowledges = false;
        kept.window = 100;
        String text = "x".repeat(15_000);
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> reported(1));
            for (int i = 0; i < 20; i++) {
                store.accept(event("large-" + i).message(text).build());
            }
            until(() -> last().ids.size() == 5);
            report("a");
            until(() -> last().ahead.equals(List.of("GPU-a")));
            assertThat(last().ids).hasSize(5);
            last().acknowledgeFirst();
            until(() -> last().ids.size() == 6);
            assertThat(uplink.stats().sent()).isEqualTo(1);
        }
    }

    @Test
    void aFatalFaultDoesNotWaitForEarlierEvents() throws Exception {
        kept.acknowledges = false;
        kept.window = 3;
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> reported(1));
            for (int i = 0; i < 40; i++) {
                store.accept(event("reported" + i).build());
            }
            until(() -> last().ids.size() == 3);
            assertThat(last().tellings).hasSize(1);
            report("a");
            until(() -> last().ahead.equals(List.of("GPU-a")));
            acknowledgeEach(41, 3);
            until(() -> uplink.stats().sent() == 41);
            assertThat(kept.ids).hasSize(41).doesNotHaveDuplicates().endsWith("a");
            assertThat(last().ahead).as("once").hasSize(1);
            assertThat(last().tellings).hasSize(1);
        }
    }

    @Test
    void theNamesOfGpusComeBeforeTheFaultsAndAgainWhenTheyChange() throws Exception {
        KnownGpus.Known third = new KnownGpus.Known(
                3, PciAddress.parse("0000:5b:00.0").orElseThrow(), "GPU-c", Optional.empty(), Optional.empty());
        gpus = List.of(GpuIdentity.unknown(3, new Reading.Absent<>(Absence.GPU_LOST, 15, "")));
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> reported(1));
            assertThat(last().names).containsExactly("0 3  ");
            report("a");
            until(() -> uplink.stats().sent() == 1);
            gpus = new KnownGpus(List.of(third)).identities();
            report("b");
            until(() -> last().names.size() == 2);
            assertThat(last().names).as("once each").containsExactly("0 3  ", "1 3 0000:5b:00.0 GPU-c");
        }
    }

    @Test
    void tooManyFatalFaultsAreReportedWithAllOthers() throws Exception {
        kept.acknowledges = false;
        kept.window = 1;
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> reported(1));
            int many = UplinkCodec.MOST_AHEAD + 10;
            for (int i = 0; i < many; i++) {
                report("m" + i);
            }
            // On a busy machine all faults are sent before the last ones exist, which then go ahead.
            until(() -> last().tellings.size() >= 2 && reportedOrAhead().size() == many);
            assertThat(last().faultEntities()).hasSizeGreaterThan(UplinkCodec.MOST_AHEAD);
            assertThat(uplink.stats().failures()).isZero();
        }
    }

    private Set<String> reportedOrAhead() {
        Set<String> all = last().faultEntities();
        all.addAll(last().ahead);
        return all;
    }

    @Test
    void aRefusedEventIsLeftOutAndCounted() throws Exception {
        kept.refusedId = "b";
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> reported(1));
            report("a", "b", "c");
            until(() -> uplink.stats().sent() == 2 && uplink.stats().refused() == 1);
            assertThat(kept.ids).containsExactly("a", "c");
            assertThat(uplink.stats().lag().waiting()).isZero();
            assertThat(kept.connections).hasSize(1);
        }
    }

    @Test
    void allFaultsAreReportedAgainOnRequest() throws Exception {
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> reported(1));
            report("a");
            until(() -> uplink.stats().sent() == 1);
            last().tellAgain();
            until(() -> last().tellings.size() == 2);
            assertThat(last().faultEntities()).containsExactly("GPU-a");
            report("b");
            until(() -> uplink.stats().sent() == 2);
            assertThat(kept.connections).hasSize(1);
        }
    }
}
