package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.CheckResult;
import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.GpuState;
import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.NodeState;
import dev.gpuwarden.api.v1.Outcome;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class WatchLinesTest {

    private static final Instant BEGIN = Instant.parse("2026-11-21T12:00:00Z");

    private final EventsConditions conditions = new EventsConditions();
    private final WatchLines lines = new WatchLines(Clock.fixed(BEGIN, ZoneOffset.UTC), conditions);

    private static WatchResponse event(long sequence, int second, long times) {
        HealthEvent event = HealthEvent.of("a", "NIC", "Port")
                .id("id-" + sequence)
                .errorCodes(List.of("down"))
                .message("bad\nline")
                .build();
        StoredEvent stored = new StoredEvent(sequence, event, BEGIN.plusSeconds(1), BEGIN.plusSeconds(second), times);
        return WatchResponse.newBuilder().setEvent(FaultCodec.toWire(stored)).build();
    }

    private static CheckResult check(Outcome outcome) {
        return CheckResult.newBuilder().setCheckId("port").setOutcome(outcome).build();
    }

    private static Gpu gpu(GpuState state) {
        Gpu.Builder gpu = Gpu.newBuilder().setIndex(3).setState(state);
        gpu.getUuidBuilder().setValue("GPU-3");
        return gpu.build();
    }

    private static WatchResponse state(Outcome outcome, GpuState gpu) {
        return WatchResponse.newBuilder()
                .setState(NodeState.newBuilder().addChecks(check(outcome)).addGpus(gpu(gpu)))
                .build();
    }

    @Test
    void eventIsPrintedOnceUnlessItRepeats() {
        assertThat(lines.of(event(7, 1, 1)))
                .extracting(WatchLines.Line::text)
                .containsExactly("2026-11-21 12:00:01Z  FAULT  Port  down  node  none  id-7  bad\\u000aline");
        assertThat(lines.of(event(7, 1, 1))).isEmpty();
        assertThat(lines.of(event(7, 5, 2)))
                .extracting(WatchLines.Line::text)
                .allMatch(text -> text.contains("  2x  "));
    }

    @Test
    void firstStateIsSilentAndHiddenChangesArePrinted() {
        assertThat(lines.of(state(Outcome.OUTCOME_PASS, GpuState.GPU_STATE_ANSWERING)))
                .isEmpty();
        assertThat(lines.of(state(Outcome.OUTCOME_FAIL, GpuState.GPU_STATE_LOST)))
                .extracting(line -> line.tree().get("kind"))
                .containsExactly("gpu", "check");
        assertThat(lines.of(WatchResponse.newBuilder()
                        .setGpu(gpu(GpuState.GPU_STATE_LOST))
                        .build()))
                .isEmpty();
    }

    @Test
    void reconnectionRequestsEventsFromTheLastOne() {
        ListEventsRequest.Builder request = ListEventsRequest.newBuilder();
        assertThat(lines.since(request)).isFalse();
        lines.of(event(7, 9, 1));
        assertThat(lines.since(request)).isTrue();
        assertThat(request.getFrom().getSeconds())
                .isEqualTo(BEGIN.plusSeconds(9).getEpochSecond());
    }

    @Test
    void onlyMatchingEventsArePrinted() {
        conditions.checks = List.of("other");
        assertThat(lines.of(event(7, 1, 1))).isEmpty();
        conditions.checks = List.of("port");
        assertThat(lines.of(event(8, 1, 1))).hasSize(1);
    }

    @Test
    void disconnectionIsReportedOnce() {
        lines.connected(new ClientGpus(List.of()), List.of());
        assertThat(lines.disconnected()).isTrue();
        assertThat(lines.disconnected()).isFalse();
    }
}
