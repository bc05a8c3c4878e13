package dev.gpuwarden.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.Holder;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HoldingsCodecTest {

    private static final Instant NOW = Instant.parse("2026-11-22T13:00:00.123456789Z");

    private static GpuHolder holder(String pod, Kind kind) {
        return new GpuHolder("ml", pod, "main", "GPU-1", kind, "GPU-1::3");
    }

    private static Holdings said(Reading<GpuHolders> seen) {
        return HoldingsCodec.report("q", Instant.EPOCH, seen).getHoldings();
    }

    @Test
    void everyKindIsTheSameOnTheOtherSide() {
        GpuHolders all = new GpuHolders(
                NOW,
                Arrays.stream(Kind.values())
                        .map(kind -> holder("p-" + kind, kind))
                        .toList(),
                List.of(new UnresolvedDevice("ml", "p", "main", "nvidia.com/gpu", "7", "no GPU has the index 7")),
                3,
                List.of(new ProcessHolder("ml", "squats", "main", "GPU-1")),
                OptionalLong.of(0),
                Optional.empty());
        assertThat(said(Reading.of(all)).getId()).isEqualTo("q");
        assertThat(HoldingsCodec.parse(said(Reading.of(all)))).isEqualTo(Reading.of(all));
        GpuHolders none = new GpuHolders(NOW, List.of(), List.of(), 0);
        assertThat(HoldingsCodec.parse(said(Reading.of(none)))).isEqualTo(Reading.of(none));
    }

    @Test
    void unknownHoldersAreNotNone() {
        Holdings said = said(Reading.absent(Absence.NO_PERMISSION, 0, "kubelet.sock"));
        assertThat(HoldingsCodec.parse(said))
                .isEqualTo(Reading.absent(Absence.FAILED, 0, "kubelet.sock: no permission"));
        assertThat(HoldingsCodec.parse(Holdings.getDefaultInstance())).isInstanceOf(Reading.Absent.class);
    }

    @Test
    void holdersWithoutRoomAreCounted() {
        GpuHolders many = new GpuHolders(
                NOW,
                IntStream.range(0, 3_000)
                        .mapToObj(i -> holder("p-" + i, Kind.SHARED))
                        .toList(),
                IntStream.range(0, 300)
                        .mapToObj(i -> new UnresolvedDevice("ml", "p", "main", "r", "" + i, "?"))
                        .toList(),
                1);
        GpuHolders heard =
                HoldingsCodec.parse(said(Reading.of(many))).asOptional().orElseThrow();
        assertThat(heard.holders()).hasSize(2048);
        assertThat(heard.unresolved()).hasSize(256);
        assertThat(heard.unlisted()).isEqualTo(3_000 - 2048 + 300 - 256 + 1);
        GpuHolders lengthy = new GpuHolders(
                NOW,
                IntStream.range(0, 3_000)
                        .mapToObj(i -> holder("€".repeat(500) + i, Kind.SHARED))
                        .toList(),
                List.of(),
                0);
        assertThat(said(Reading.of(lengthy)).getSerializedSize()).isLessThan(2 << 20);
        assertThat(said(Reading.of(lengthy)).getUnlisted()
                        + said(Reading.of(lengthy)).getHoldersCount())
                .isEqualTo(3_000);
    }

    @Test
    void processesWithoutRoomAreCountedAndAnOlderFullListMayBeCut() {
        GpuHolders none = new GpuHolders(NOW, List.of(), List.of(), 0);
        GpuHolders full = none.with(Collections.nCopies(256, new ProcessHolder("ml", "squats", "main", "GPU-1")));
        GpuHolders more = none.with(Collections.nCopies(300, full.processes().get(0)), OptionalLong.of(2));
        assertThat(HoldingsCodec.parse(said(Reading.of(full)))).isEqualTo(Reading.of(full));
        assertThat(HoldingsCodec.parse(said(Reading.of(more))))
                .isEqualTo(Reading.of(none.with(full.processes(), OptionalLong.of(46))));
        GpuHolders hidden = full.missing(Optional.of("processes are hidden"));
        assertThat(HoldingsCodec.parse(said(Reading.of(hidden)))).isEqualTo(Reading.of(hidden));
        Holdings older =
                said(Reading.of(full)).toBuilder().clearUnlistedProcesses().build();
        assertThat(HoldingsCodec.parse(older)).isEqualTo(Reading.of(none.with(full.processes(), OptionalLong.empty())));
        Holdings shorter = older.toBuilder().removeProcesses(0).build();
        assertThat(HoldingsCodec.parse(shorter).asOptional().orElseThrow().listsAllProcesses())
                .isTrue();
    }

    @Test
    void kindsOfLaterVersionsMakeItIncomplete() {
        Holdings said = said(Reading.of(new GpuHolders(NOW, List.of(holder("a", Kind.MIG)), List.of(), 0)));
        Holdings later = said.toBuilder()
                .addHolders(Holder.newBuilder().setKindValue(77))
                .build();
        assertThat(HoldingsCodec.parse(later).asOptional().orElseThrow().unlisted())
                .isEqualTo(1);
    }

    @Test
    void idsAreShortAndVisible() {
        assertThat(HoldingsCodec.isId("8c0e6f5e-8b4c-4d7a-9d4e-2f4b6a1c0d3e")).isTrue();
        assertThat(List.of("", "a b", "\u001b[31m", "ä", "x".repeat(65))).noneMatch(HoldingsCodec::isId);
    }
}
