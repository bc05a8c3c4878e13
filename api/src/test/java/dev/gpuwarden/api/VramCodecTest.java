package dev.gpuwarden.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Advertise;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.BudgetedPods;
import dev.gpuwarden.api.v1.ContainerBudget;
import dev.gpuwarden.api.v1.ContainerRole;
import dev.gpuwarden.api.v1.Evict;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.OverBudget;
import dev.gpuwarden.api.v1.PodOverBudget;
import dev.gpuwarden.api.v1.Removal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VramCodecTest {

    private static final BudgetedPod POD = BudgetedPod.newBuilder()
            .setUid("6f1c3ac4-6a1d-4f0e-9d2e-0d7b5f3f8f11")
            .setNamespace("llama-cpp")
            .setName("llama-swap-5d9c-x2x7k")
            .setController("ReplicaSet/llama-swap-5d9c")
            .addContainers(ContainerBudget.newBuilder()
                    .setRole(ContainerRole.CONTAINER_ROLE_ORDINARY)
                    .setName("main")
                    .setQuantity("5k"))
            .build();

    @ParameterizedTest
    @CsvSource({
        "gpuwarden.dev/vram-mib, true",
        "viktorbarzin.me/gpumem, true",
        "cpu, false",
        "kubernetes.io/vram, false",
        "requests.kubernetes.io/vram, false",
        "gpuwarden.dev/, false",
        "gpuwarden.dev/a/b, false",
        "gpuwarden.dev/vram~1mib, false",
        "'gpuwarden.dev/vram\"mib', false"
    })
    void onlyNamesOfExtendedResourcesAreValid(String name, boolean valid) {
        assertThat(VramCodec.isResource(name)).isEqualTo(valid);
    }

    @ParameterizedTest
    @CsvSource({"1, true", "14000, true", "67108864, true", "67108865, false", "0, false", "-5, false"})
    void anAdvertisedValueIsBounded(long mib, boolean valid) {
        Advertise message = VramCodec.advertise("a-1", OptionalLong.of(mib), OptionalLong.empty())
                .getAdvertise();
        assertThat(VramCodec.isGood(message)).isEqualTo(valid);
    }

    @ParameterizedTest
    @CsvSource({"1, true", "8000, true", "8001, false", "0, false", "-5, false"})
    void theLargestCardHasAPartOfTheValue(long card, boolean valid) {
        Advertise message = VramCodec.advertise("a-1", OptionalLong.of(8000), OptionalLong.of(card))
                .getAdvertise();
        assertThat(VramCodec.isGood(message)).isEqualTo(valid);
    }

    @Test
    void podsAboveTheirBudgetsAreBounded() {
        Map<String, Long> many = new HashMap<>();
        for (int i = 0; i < 1000; i++) {
            many.put("uid-" + i, i + 1L);
        }
        OverBudget report = VramCodec.overBudget(many);
        assertThat(report.getPodsCount()).isEqualTo(VramCodec.MOST_OVER_BUDGET);
        assertThat(report.getPods(0).getOverMib()).as("the largest first").isEqualTo(1000);
        assertThat(isGood(report)).isTrue();
        assertThat(isGood(VramCodec.overBudgetUnknown())).isTrue();
        assertThat(isGood(report.toBuilder().addPods(report.getPods(0)).build()))
                .isFalse();
        assertThat(isGood(report.toBuilder().setKnown(false).build())).isFalse();
        for (PodOverBudget pod : List.of(
                PodOverBudget.newBuilder().setPodUid("u").build(),
                PodOverBudget.newBuilder().setPodUid("u").setOverMib(-1).build(),
                PodOverBudget.newBuilder().setPodUid("a b").setOverMib(1).build())) {
            assertThat(isGood(
                            OverBudget.newBuilder().setKnown(true).addPods(pod).build()))
                    .isFalse();
        }
    }

    private static boolean isGood(OverBudget report) {
        return VramCodec.isGood(NodeReport.newBuilder().setOverBudget(report).build());
    }

    @Test
    void aMissingValueRemovesTheResource() {
        Advertise message = VramCodec.advertise("a-1", OptionalLong.empty(), OptionalLong.empty())
                .getAdvertise();
        assertThat(message.hasMib()).isFalse();
        assertThat(VramCodec.isGood(message)).isTrue();
        assertThat(VramCodec.isGood(message.toBuilder().setId(" ").build())).isFalse();
    }

    @Test
    void anEvictionIsTruncatedToItsLimitsBeforeItIsSent() {
        Evict message = VramCodec.evict(
                        "e-1",
                        "u-1",
                        "ml",
                        "leaky",
                        "\u001b[2J" + "x".repeat(5000),
                        Duration.ofHours(9),
                        Removal.REMOVAL_EVICT)
                .getEvict();
        assertThat(VramCodec.isGood(message)).isTrue();
        assertThat(message.getReason()).contains("[2Jxxx").doesNotContain("\u001b");
        assertThat(message.getMostGraceSeconds()).isEqualTo(3600);
    }

    @Test
    void anEvictionOfAStrangerIsRefusedBeyondItsLimits() {
        Evict good = VramCodec.evict("e-1", "u-1", "ml", "leaky", "", Duration.ofSeconds(5), Removal.REMOVAL_EVICT)
                .getEvict();
        List<UnaryOperator<Evict.Builder>> bad = List.of(
                evict -> evict.setPodUid("../x"),
                evict -> evict.setNamespace("a/b"),
                evict -> evict.setPod("x?fieldManager=y"),
                evict -> evict.setPod(""),
                evict -> evict.setReason("x".repeat(1025)),
                evict -> evict.setMostGraceSeconds(0),
                evict -> evict.setMostGraceSeconds(3601));
        assertThat(VramCodec.isGood(good)).isTrue();
        assertThat(bad)
                .noneMatch(change ->
                        VramCodec.isGood(change.apply(good.toBuilder()).build()));
    }

    @Test
    void aListIsSentInPagesAndEndsAtItsLimit() {
        List<BudgetedPod> pods = IntStream.range(0, 1100)
                .mapToObj(i -> POD.toBuilder().setName("pod-" + i).build())
                .toList();
        List<BudgetedPods> pages = VramCodec.pages(7, pods).stream()
                .map(Acknowledgement::getBudgetedPods)
                .toList();
        assertThat(pages).hasSize(8).allMatch(VramCodec::isGood);
        assertThat(pages)
                .extracting(BudgetedPods::getLast)
                .containsExactly(false, false, false, false, false, false, false, true);
        assertThat(pages.stream().mapToInt(BudgetedPods::getPodsCount).sum()).isEqualTo(VramCodec.MOST_PODS);
        assertThat(pages.get(7).getUnlisted()).isEqualTo(76);
        assertThat(VramCodec.pages(1, List.of())).hasSize(1);
    }

    @Test
    void aPodBeyondItsLimitsSpoilsItsPage() {
        List<UnaryOperator<BudgetedPod.Builder>> bad = List.of(
                pod -> pod.setUid("x".repeat(65)),
                pod -> pod.setController("ReplicaSet/\n"),
                pod -> pod.addContainers(
                        ContainerBudget.newBuilder().setName("a").setQuantity("1".repeat(65))),
                pod -> pod.addAllContainers(IntStream.range(0, 64)
                        .mapToObj(i -> ContainerBudget.getDefaultInstance())
                        .toList()));
        assertThat(VramCodec.isGood(BudgetedPods.newBuilder().addPods(POD).build()))
                .isTrue();
        assertThat(bad)
                .noneMatch(change -> VramCodec.isGood(BudgetedPods.newBuilder()
                        .addPods(change.apply(POD.toBuilder()))
                        .build()));
    }
}
