package dev.gpuwarden.aggregator.nodehealth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Answered;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Failed;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Pending;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupRequest;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson.HoldingsReader;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HoldingsReaderTest {

    private static final Instant NOW = Instant.parse("2026-11-22T13:00:00Z");
    private static final Instant AS_OF = Instant.parse("2026-11-22T12:59:59.5Z");
    private static final String GPU = "GPU-11111111-1111-1111-1111-111111111111";

    private static GpuHolder holder(String pod, Kind kind, String device) {
        return new GpuHolder("ml", pod, "main", GPU, kind, device);
    }

    private static Reading<GpuHolders> answer(GpuHolder... holders) {
        return Reading.of(new GpuHolders(AS_OF, List.of(holders), List.of(), 0));
    }

    private static Map<String, Object> resource(String asked, Map<String, Object> holdings) {
        return Map.of(
                "spec", Map.of("lookup", new LookupRequest(asked, NOW).tree()),
                "status", Map.of("holdings", holdings));
    }

    private static LookupAnswer read(Reading<GpuHolders> answer) {
        return HoldingsReader.read(resource("q", GpuHoldersJson.of("q", answer, NOW)), "q");
    }

    private static GpuHolders answered(Reading<GpuHolders> answer) {
        return ((Answered) read(answer)).holders();
    }

    @Test
    void readerReturnsHoldersAsWritten() {
        List<GpuHolder> holders = new ArrayList<>(Arrays.stream(Kind.values())
                .map(kind -> holder("p-" + kind.ordinal(), kind, GPU + "::1"))
                .toList());
        holders.add(holder("whole", Kind.EXCLUSIVE, GPU));
        GpuHolders all = new GpuHolders(
                AS_OF,
                holders,
                List.of(new UnresolvedDevice("ml", "p", "main", "nvidia.com/gpu", "7", "no such")),
                2,
                List.of(new ProcessHolder("ml", "squats", "main", GPU)),
                OptionalLong.of(0),
                Optional.empty());
        assertThat(answered(Reading.of(all))).isEqualTo(all);
        assertThat(answered(answer())).isEqualTo(new GpuHolders(AS_OF, List.of(), List.of(), 0));
    }

    @Test
    void readerIgnoresAnswersToOtherRequests() {
        Map<String, Object> none = Map.of();
        assertThat(HoldingsReader.read(resource("q", none), "q")).isEqualTo(new Pending(NOW));
        assertThat(HoldingsReader.read(resource("q", GpuHoldersJson.of("before", answer(), NOW)), "q"))
                .isEqualTo(new Pending(NOW));
        assertThat(HoldingsReader.read(resource("later", GpuHoldersJson.of("before", answer(), NOW)), "q"))
                .isEqualTo(new Failed("a newer request replaced this one"));
        // The answer came before the next request.
        assertThat(HoldingsReader.read(resource("later", GpuHoldersJson.of("q", answer(), NOW)), "q"))
                .isInstanceOf(Answered.class);
        assertThat(HoldingsReader.read(Map.of(), "q")).isEqualTo(new Failed("the request is withdrawn"));
    }

    @Test
    void openRequestsAreThoseWithoutAnAnswer() {
        assertThat(LookupRequest.open(resource("q", Map.of()))).contains(new LookupRequest("q", NOW));
        assertThat(LookupRequest.open(resource("q", GpuHoldersJson.of("q", answer(), NOW))))
                .isEmpty();
        assertThat(LookupRequest.open(resource("q", GpuHoldersJson.of("p", answer(), NOW))))
                .isPresent();
        assertThat(LookupRequest.open(Map.of())).isEmpty();
        assertThat(LookupRequest.of(Map.of("spec", Map.of("lookup", Map.of("id", "q", "requested", "soon")))))
                .isEmpty();
        assertThat(LookupRequest.of(Map.of("spec", Map.of("lookup", "q")))).isEmpty();
    }

    @Test
    void causeOfTheNodeIsCutAndSafeToShow() {
        assertThat(read(Reading.absent(Absence.FAILED, 0, "no \u001b[31msocket " + "x".repeat(2_000))))
                .isInstanceOfSatisfying(
                        Failed.class,
                        failed -> assertThat(failed.why())
                                .startsWith("no  [31msocket xxx")
                                .hasSize(GpuHoldersJson.LONGEST_REASON));
    }

    @Test
    void thousandPodsFitAndFurtherOnesAreCounted() {
        GpuHolder[] many = IntStream.range(0, 1_500)
                .mapToObj(i -> holder("batch-job-" + i, Kind.SHARED, GPU + "::" + i))
                .toArray(GpuHolder[]::new);
        GpuHolders holders = answered(answer(many));
        assertThat(holders.podsOf(GPU)).hasSize(1024);
        assertThat(holders.unlisted()).isEqualTo(1_500 - 1024);
        assertThat(holders.complete()).isFalse();
        assertThat(answered(answer(Arrays.copyOf(many, 1_000))).complete()).isTrue();
    }

    @Test
    void longestNamesStayWithinTheLimitOfBytes() {
        GpuHolder[] many = IntStream.range(0, 1_024)
                .mapToObj(i -> holder("p".repeat(248) + i, Kind.SHARED, GPU + "::" + "<".repeat(300)))
                .toArray(GpuHolder[]::new);
        GpuHolders holders = answered(answer(many));
        assertThat(holders.holders().size() + holders.unlisted()).isEqualTo(1_024);
        assertThat(holders.holders()).hasSizeBetween(50, 500);
    }

    @Test
    void processesWithoutRoomAreCounted() {
        GpuHolders none = new GpuHolders(AS_OF, List.of(), List.of(), 0);
        ProcessHolder one = new ProcessHolder("ml", "squats", "main", GPU);
        List<ProcessHolder> many = new ArrayList<>(Collections.nCopies(256, one));
        assertThat(answered(Reading.of(none.with(many)))).isEqualTo(none.with(many));
        GpuHolders hidden = none.missing(Optional.of("processes are hidden"));
        assertThat(answered(Reading.of(hidden))).as("no proof that none has it").isEqualTo(hidden);
        many.add(new ProcessHolder("ml", "../squats", "main", GPU));
        many.add(one);
        assertThat(answered(Reading.of(none.with(many, OptionalLong.of(5)))))
                .isEqualTo(none.with(Collections.nCopies(256, one), OptionalLong.of(7)));
        GpuHolder[] holders = IntStream.range(0, 1_024)
                .mapToObj(i -> holder("p".repeat(248) + i, Kind.SHARED, GPU + "::" + "<".repeat(300)))
                .toArray(GpuHolder[]::new);
        GpuHolders full = answered(
                Reading.of(new GpuHolders(AS_OF, List.of(holders), List.of(), 0).with(Collections.nCopies(20, one))));
        assertThat(full.processes().size() + full.unlistedProcesses().orElseThrow())
                .as("they share the limit of bytes")
                .isEqualTo(20);
        assertThat(full.listsAllProcesses()).isFalse();
    }

    @Test
    void fullListOfAnOlderVersionMayBeCut() {
        ProcessHolder one = new ProcessHolder("ml", "squats", "main", GPU);
        GpuHolders none = new GpuHolders(AS_OF, List.of(), List.of(), 0);
        for (int size : List.of(63, 64)) {
            Map<String, Object> tree =
                    GpuHoldersJson.of("q", Reading.of(none.with(Collections.nCopies(size, one))), NOW);
            tree.remove("unlistedProcessCount");
            GpuHolders read = ((Answered) HoldingsReader.read(resource("q", tree), "q")).holders();
            assertThat(read.listsAllProcesses()).isEqualTo(size < 64);
        }
    }

    @Test
    void holdersWithInvalidNamesAreCountedAndNotKept() {
        GpuHolders holders = answered(answer(
                holder("a", Kind.EXCLUSIVE, GPU),
                holder("A\u001b[31m", Kind.EXCLUSIVE, GPU),
                holder("", Kind.EXCLUSIVE, GPU),
                holder("x".repeat(254), Kind.EXCLUSIVE, GPU),
                new GpuHolder("ml", "b", "main", "GPU-1", Kind.EXCLUSIVE, "GPU-1"),
                new GpuHolder("../ml", "b", "main", GPU, Kind.EXCLUSIVE, GPU)));
        assertThat(holders.holders()).extracting(GpuHolder::pod).containsExactly("a");
        assertThat(holders.unlisted()).isEqualTo(5);
    }

    @Test
    void unreadablePartsFailTheAnswerOrAreCounted() {
        Map<String, Object> tree = GpuHoldersJson.of("q", answer(holder("a", Kind.MIG, "MIG-1")), NOW);
        for (String field : List.of("asOf", "holders", "unresolved", "unlistedCount")) {
            for (Object odd : List.of(true, "?", Map.of())) {
                Map<String, Object> broken = new HashMap<>(tree);
                broken.put(field, odd);
                assertThat(HoldingsReader.read(resource("q", broken), "q"))
                        .as(field + odd)
                        .isInstanceOf(Failed.class);
            }
            Map<String, Object> without = new HashMap<>(tree);
            without.remove(field);
            assertThat(HoldingsReader.read(resource("q", without), "q")).isInstanceOf(Failed.class);
        }
        Map<String, Object> later = new HashMap<>(tree);
        later.put("holders", List.of(Map.of("pod", "a", "gpu", GPU, "kind", "Later"), "?"));
        assertThat(HoldingsReader.read(resource("q", later), "q"))
                .isInstanceOfSatisfying(
                        Answered.class,
                        answer -> assertThat(answer.holders().unlisted()).isEqualTo(2));
    }
}
