package dev.gpuwarden.daemon.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.process.PodProcess;
import java.util.List;
import org.junit.jupiter.api.Test;

class MainProcessesTest {

    private static List<Integer> mains(PodProcess... seen) {
        return MainProcesses.of(List.of(seen)).stream().map(PodProcess::pid).toList();
    }

    private static PodProcess process(int pid, int parent, long start, String container) {
        return new PodProcess(pid, parent, start, container, "python");
    }

    @Test
    void theFirstOfEachContainerAndNoneOfItsChildren() {
        assertThat(mains(
                        process(12, 11, 52, "a"),
                        process(11, 7, 50, "a"),
                        process(13, 12, 53, "a"),
                        process(21, 7, 60, "b")))
                .containsExactly(11, 21);
    }

    @Test
    void processesStartedLaterInTheContainerAreNotMain() {
        assertThat(mains(process(11, 7, 50, "a"), process(9, 7, 900, "a"), process(10, 9, 901, "a")))
                .containsExactly(11);
    }

    @Test
    void withAProcessNamespaceOfThePodParentsAreInOtherContainers() {
        PodProcess pause = new PodProcess(5, 7, 40, "sandbox", "pause");
        assertThat(mains(pause, process(11, 5, 50, "a"), process(21, 5, 51, "b")))
                .containsExactly(11, 21);
    }

    @Test
    void noProcessesAreNone() {
        assertThat(mains()).isEmpty();
    }
}
