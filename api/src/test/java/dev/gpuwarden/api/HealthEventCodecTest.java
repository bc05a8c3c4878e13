package dev.gpuwarden.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Timestamp;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HealthEventCodecTest {

    private static final Instant TIME = Instant.parse("2026-11-21T10:00:00.123456789Z");
    private static final Instant OTHERWISE = Instant.EPOCH;

    private static final HealthEvent FULL = HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
            .id("0b2f")
            .fatal(true)
            .message("ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS: NVRM: Xid (PCI:0000:3b:00): 79, …")
            .action(RecommendedAction.RESTART_BM)
            .errorCodes(List.of("79"))
            .entities(List.of(new Entity(Entity.PCI, "0000:3b:00"), Entity.gpu("GPU-1")))
            .metadata(Map.of("a", "1", "b", ""))
            .generated(TIME)
            .nodeName("node-1")
            .quarantine(new Overrides(true, false))
            .drain(new Overrides(false, true))
            .strategy(ProcessingStrategy.STORE_AND_ANALYSE)
            .customAction("replace-riser")
            .build();

    @Test
    void anEventComesBackAsItWas() {
        assertThat(HealthEventCodec.fromWire(HealthEventCodec.toWire(FULL), OTHERWISE))
                .isEqualTo(FULL);
        HealthEvent bare = HealthEvent.of("a", "b", "c").build();
        assertThat(HealthEventCodec.fromWire(HealthEventCodec.toWire(bare), TIME))
                .isEqualTo(bare);
    }

    @Test
    void laterActionBecomesUnknownAndStillRequestsAttention() {
        dev.gpuwarden.api.datamodels.HealthEvent later = HealthEventCodec.toWire(FULL).toBuilder()
                .setRecommendedActionValue(39)
                .setProcessingStrategyValue(17)
                .build();
        HealthEvent event = HealthEventCodec.fromWire(later, OTHERWISE);
        assertThat(event.action()).isEqualTo(RecommendedAction.UNKNOWN);
        assertThat(event.strategy()).isEqualTo(ProcessingStrategy.UNSPECIFIED);
        assertThat(event.strategy().actedOn()).isTrue();
    }

    @Test
    void anEventWithoutATimeOrWithAnImpossibleOneGetsTheGivenOne() {
        dev.gpuwarden.api.datamodels.HealthEvent.Builder wire = HealthEventCodec.toWire(FULL).toBuilder();
        assertThat(HealthEventCodec.fromWire(wire.clearGeneratedTimestamp().build(), TIME)
                        .generated())
                .isEqualTo(TIME);
        wire.setGeneratedTimestamp(Timestamp.newBuilder().setSeconds(Long.MAX_VALUE));
        assertThat(HealthEventCodec.fromWire(wire.build(), TIME).generated()).isEqualTo(TIME);
    }

    @Test
    void faultsAndStoredEventsComeBackAsTheyWere() {
        StoredEvent stored = new StoredEvent(7, FULL, TIME, TIME.plusSeconds(3), 4);
        assertThat(FaultCodec.fromWire(FaultCodec.toWire(stored))).isEqualTo(stored);
        Fault named = new Fault(FULL.keys().get(0), FULL, 7, TIME, TIME.plusSeconds(3), 4);
        assertThat(FaultCodec.fromWire(FaultCodec.toWire(named))).isEqualTo(named);
        HealthEvent ofAll = HealthEvent.of("a", "b", "c").generated(TIME).build();
        Fault whole = new Fault(ofAll.keys().get(0), ofAll, 8, TIME, TIME, 1);
        assertThat(FaultCodec.toWire(whole).getKey().hasEntity()).isFalse();
        assertThat(FaultCodec.fromWire(FaultCodec.toWire(whole))).isEqualTo(whole);
    }
}
