package dev.gpuwarden.daemon.vram.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.ContainerBudget;
import dev.gpuwarden.api.v1.ContainerRole;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.watchdog.budget.Terms;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PodTermsTest {

    private static final String A = "GPU-AAAAAAAA-1111-1111-1111-111111111111";
    private static final String B = "GPU-bbbbbbbb-1111-1111-1111-111111111111";

    private static final BudgetedPod OCR = BudgetedPod.newBuilder()
            .setUid("uid-ocr")
            .setNamespace("ml")
            .setName("ocr-1")
            .setController("Deployment/ocr")
            .setPriority(7)
            .setStarted(com.google.protobuf.Timestamp.newBuilder().setSeconds(1000))
            .addContainers(container("main", "5k"))
            .build();

    private final List<BudgetedPod> pods = new ArrayList<>();
    private Reading<GpuHolders> holders = Reading.absent(Absence.NO_DATA, 0, "no kubelet");
    private int gpus = 1;

    private final PodTerms terms = new PodTerms(
            () -> Reading.of(new Pods(pods.stream().collect(Collectors.toMap(BudgetedPod::getUid, pod -> pod)))),
            () -> holders,
            () -> gpus);

    private static ContainerBudget container(String name, String quantity) {
        return ContainerBudget.newBuilder()
                .setName(name)
                .setRole(ContainerRole.CONTAINER_ROLE_ORDINARY)
                .setQuantity(quantity)
                .build();
    }

    private static GpuIdentity gpu(String uuid) {
        GpuIdentity unknown = GpuIdentity.unknown(0, new Reading.Absent<>(Absence.PENDING, 0, ""));
        return new GpuIdentity(
                0,
                Reading.of(uuid),
                unknown.pci(),
                unknown.minor(),
                unknown.name(),
                unknown.serial(),
                unknown.vbios(),
                unknown.boardPart(),
                unknown.computeCapability(),
                unknown.numaNode(),
                unknown.migMode(),
                List.of(),
                unknown.nvlinks());
    }

    private static MemoryUse process(Owner owner) {
        return new MemoryUse(
                new GpuProcess(
                        42,
                        GpuProcess.Type.COMPUTE,
                        Reading.of(1L << 30),
                        Reading.absent(Absence.NO_DATA),
                        Reading.absent(Absence.NO_DATA)),
                Reading.of(1L),
                Reading.of("python"),
                owner);
    }

    private static Owner podOf(String uid) {
        Reading<String> none = Reading.absent(Absence.NO_DATA);
        return new Owner.Pod(uid, none, none, none, none);
    }

    private void allocate(String... containerAndGpu) {
        List<GpuHolder> all = new ArrayList<>();
        for (int i = 0; i < containerAndGpu.length; i += 2) {
            String uuid = containerAndGpu[i + 1];
            all.add(new GpuHolder("ml", "ocr-1", containerAndGpu[i], uuid, Kind.SHARED, uuid + "::1"));
        }
        holders = Reading.of(new GpuHolders(Instant.EPOCH, all, List.of(), 0));
        gpus = 2;
    }

    private Terms of(String uuid) {
        return terms.of(gpu(uuid), process(podOf("uid-ocr"))).orElseThrow();
    }

    private static String noBudget(Terms terms) {
        return ((Reading.Absent<Long>) terms.budgetBytes()).text();
    }

    @Test
    void aPodOfANodeWithOneGpuHasItsBudgetThere() {
        pods.add(OCR);
        Terms ocr = of(A);
        assertThat(ocr)
                .isEqualTo(new Terms(
                        "pod:uid-ocr",
                        "ml/ocr-1",
                        "ml/Deployment/ocr",
                        Reading.of(5000L << 20),
                        7,
                        Instant.ofEpochSecond(1000),
                        Optional.empty(),
                        false));
        assertThat(terms.expected(gpu(A))).containsExactly(ocr);
    }

    @Test
    void otherOwnersAndPodsWithoutBudgetAreNotItsBusiness() {
        pods.add(OCR);
        assertThat(terms.of(gpu(A), process(podOf("uid-of-another")))).isEmpty();
        assertThat(terms.of(gpu(A), process(new Owner.Unit("ollama.service")))).isEmpty();
    }

    @Test
    void aBudgetBelongsToTheGpuOfItsContainer() {
        pods.add(OCR.toBuilder().addContainers(container("side", "1k")).build());
        allocate("main", A, "side", B);
        assertThat(of(A.toLowerCase(java.util.Locale.ROOT)).budgetBytes()).isEqualTo(Reading.of(5000L << 20));
        assertThat(of(B).budgetBytes()).isEqualTo(Reading.of(1000L << 20));

        pods.set(0, OCR);
        assertThat(of(A).budgetBytes()).isEqualTo(Reading.of(5000L << 20));
        assertThat(noBudget(of(B))).contains("its budget is for another GPU");
        assertThat(terms.expected(gpu(B))).isEmpty();
        assertThat(terms.expected(gpu(A))).hasSize(1);
    }

    @Test
    void aPodWithAnUnknownSplitIsSpared() {
        pods.add(OCR);
        allocate("main", A, "main", B);
        assertThat(of(A).exempt().orElseThrow()).contains("2 GPUs");
        assertThat(of(A).budgetBytes()).isInstanceOf(Reading.Absent.class);
        allocate();
        assertThat(of(A).exempt().orElseThrow()).contains("no known GPU");
        holders = Reading.absent(Absence.FAILED, 0, "the kubelet does not answer");
        assertThat(of(A).exempt().orElseThrow()).contains("the kubelet does not answer");
        assertThat(terms.expected(gpu(A))).isEmpty();
        pods.set(0, OCR.toBuilder().setIncomplete(true).build());
        assertThat(of(A).exempt().orElseThrow()).contains("more containers");
    }

    @Test
    void aBudgetThatIsNoQuantityIsNamedAndUnknown() {
        pods.add(OCR.toBuilder()
                .setContainers(0, container("main", "5 thousand"))
                .build());
        assertThat(noBudget(of(A))).contains("ml/ocr-1").contains("5 thousand");
        assertThat(terms.expected(gpu(A))).isEmpty();
    }

    static Stream<UnaryOperator<BudgetedPod.Builder>> podsThatStay() {
        return Stream.of(
                pod -> pod.setMirror(true),
                pod -> pod.setDaemonSet(true),
                pod -> pod.setPriority(2_000_001_000),
                pod -> pod.setOptedOut(true));
    }

    @ParameterizedTest
    @MethodSource("podsThatStay")
    void podsThatMustStayAreSparedAndKeepTheirBudget(UnaryOperator<BudgetedPod.Builder> change) {
        pods.add(change.apply(OCR.toBuilder()).build());
        assertThat(of(A).exempt()).isPresent();
        assertThat(of(A).budgetBytes()).isEqualTo(Reading.of(5000L << 20));
    }

    @Test
    void aPodThatEndsOrHasNotBegunAllocatesNothing() {
        pods.add(OCR.toBuilder().setLeaving(true).build());
        assertThat(of(A).leaving()).isTrue();
        assertThat(terms.expected(gpu(A))).isEmpty();
        pods.set(0, OCR.toBuilder().clearStarted().build());
        assertThat(terms.expected(gpu(A))).isEmpty();
    }

    @Test
    void withoutAListNoPodHasAKnownBudget() {
        PodTerms none = new PodTerms(
                () -> Reading.absent(Absence.PENDING, 0, "the aggregator is away"), () -> holders, () -> 1);
        Terms unknown = none.of(gpu(A), process(podOf("uid-ocr"))).orElseThrow();
        assertThat(noBudget(unknown)).contains("the aggregator is away");
        assertThat(none.expected(gpu(A))).isEmpty();
        assertThat(unknown.id()).isEqualTo("pod:uid-ocr");
    }
}
