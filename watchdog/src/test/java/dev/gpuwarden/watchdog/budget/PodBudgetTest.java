package dev.gpuwarden.watchdog.budget;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.budget.PodBudget.Container;
import dev.gpuwarden.watchdog.budget.PodBudget.Kind;
import dev.gpuwarden.watchdog.budget.PodBudget.State;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PodBudgetTest {

    private static final Container MODEL = new Container("model", Kind.MAIN, Optional.of("5k"));
    private static final Container ENCODER = new Container("encoder", Kind.MAIN, Optional.of("1500"));
    private static final Container PROXY = new Container("proxy", Kind.MAIN, Optional.empty());

    @Test
    void chargesEveryPodAsTheSchedulerDoes() throws IOException {
        List<String> different = new ArrayList<>();
        List<String> rows;
        try (InputStream in = PodBudgetTest.class.getResourceAsStream("pods.tsv")) {
            rows = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
        for (String row : rows) {
            String[] columns = row.split("\t");
            List<Container> containers = new ArrayList<>();
            for (String container : columns[0].split(",")) {
                String[] parts = container.split(":");
                containers.add(new Container("c", Kind.valueOf(parts[0]), quantity(parts[1])));
            }
            PodBudget budget = new PodBudget("a/b", containers, quantity(columns[1]));
            long charged = budget.total().bytes().asOptional().orElse(0L) >> 20;
            if (charged != Long.parseLong(columns[2])) {
                different.add(row + ": seen " + charged);
            }
        }
        assertThat(rows).hasSize(1000);
        assertThat(different).isEmpty();
    }

    private static Optional<String> quantity(String text) {
        return text.equals("-") ? Optional.empty() : Optional.of(text);
    }

    @Test
    void hasNoBudgetWithoutTheResource() {
        PodBudget.Amount amount = pod(PROXY).total();
        assertThat(amount.state()).isEqualTo(State.NONE);
        assertThat(detail(amount)).isEqualTo("none is configured");
    }

    @Test
    void aBudgetOfZeroIsABudget() {
        assertThat(pod(new Container("model", Kind.MAIN, Optional.of("0"))).total())
                .isEqualTo(new PodBudget.Amount(State.KNOWN, Reading.of(0L)));
    }

    @Test
    void namesPodContainerAndTextOfAQuantityThatCannotBeRead() {
        PodBudget.Amount amount = pod(MODEL, new Container("encoder", Kind.MAIN, Optional.of("1.5")))
                .total();
        assertThat(amount.state()).isEqualTo(State.UNREADABLE);
        assertThat(detail(amount))
                .isEqualTo("pod media/immich: container encoder: expected a whole number of at least 0, seen '1.5'");
    }

    @Test
    void anUnreadableOverheadMakesTheBudgetUnreadable() {
        PodBudget.Amount amount = new PodBudget("media/immich", List.of(MODEL), Optional.of("-1")).total();
        assertThat(amount.state()).isEqualTo(State.UNREADABLE);
        assertThat(detail(amount)).contains("overhead").contains("'-1'");
    }

    @Test
    void aSumBeyondAnyMemoryIsUnreadable() {
        Container huge = new Container("model", Kind.MAIN, Optional.of("8796093022207"));
        PodBudget.Amount amount = pod(huge, ENCODER).total();
        assertThat(amount.state()).isEqualTo(State.UNREADABLE);
        assertThat(detail(amount)).contains("2^63");
    }

    @Test
    void aContainerWithOneGpuHasItsBudgetThere() {
        PodBudget pod = pod(MODEL, ENCODER, PROXY);
        Map<String, Set<String>> gpus = Map.of("model", Set.of("GPU-0"), "encoder", Set.of("GPU-1"));
        assertThat(pod.on("GPU-0", gpus).bytes()).isEqualTo(Reading.of(5000L << 20));
        assertThat(pod.on("GPU-1", gpus).bytes()).isEqualTo(Reading.of(1500L << 20));
        assertThat(pod.on("GPU-2", gpus).state()).isEqualTo(State.NONE);
    }

    @Test
    void containersOnOneGpuAreChargedTogether() {
        Container loader = new Container("loader", Kind.INIT, Optional.of("9k"));
        Map<String, Set<String>> gpus =
                Map.of("loader", Set.of("GPU-0"), "model", Set.of("GPU-0"), "encoder", Set.of("GPU-0"));
        assertThat(pod(loader, MODEL, ENCODER).on("GPU-0", gpus).bytes()).isEqualTo(Reading.of(9000L << 20));
    }

    @Test
    void aContainerWithSeveralGpusLeavesTheSplitUnknown() {
        PodBudget.Amount amount = pod(MODEL).on("GPU-0", Map.of("model", Set.of("GPU-0", "GPU-1")));
        assertThat(amount.state()).isEqualTo(State.UNKNOWN_SPLIT);
        assertThat(detail(amount)).isEqualTo("pod media/immich: container model has a budget and 2 GPUs");
    }

    @Test
    void aContainerWithoutKnownGpuLeavesTheSplitUnknown() {
        PodBudget.Amount amount = pod(MODEL, ENCODER).on("GPU-0", Map.of("model", Set.of("GPU-0")));
        assertThat(amount.state()).isEqualTo(State.UNKNOWN_SPLIT);
        assertThat(detail(amount)).contains("container encoder").contains("no known GPU");
    }

    @Test
    void anOverheadOverSeveralGpusLeavesTheSplitUnknown() {
        PodBudget pod = new PodBudget("media/immich", List.of(MODEL, ENCODER), Optional.of("100"));
        Map<String, Set<String>> one = Map.of("model", Set.of("GPU-0"), "encoder", Set.of("GPU-0"));
        assertThat(pod.on("GPU-0", one).bytes()).isEqualTo(Reading.of(6600L << 20));
        Map<String, Set<String>> two = Map.of("model", Set.of("GPU-0"), "encoder", Set.of("GPU-1"));
        assertThat(pod.on("GPU-0", two).state()).isEqualTo(State.UNKNOWN_SPLIT);
    }

    private static PodBudget pod(Container... containers) {
        return new PodBudget("media/immich", List.of(containers), Optional.empty());
    }

    private static String detail(PodBudget.Amount amount) {
        return ((Reading.Absent<Long>) amount.bytes()).detail();
    }
}
