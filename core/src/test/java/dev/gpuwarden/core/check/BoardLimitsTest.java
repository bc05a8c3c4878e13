package dev.gpuwarden.core.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.check.BoardLimits.Row;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BoardLimitsTest {

    private static final String NAME = "pcie_width_lanes";

    private static GpuIdentity gpu(Reading<String> product) {
        GpuIdentity g = Snapshots.identity(0);
        return new GpuIdentity(
                g.index(),
                g.uuid(),
                g.pci(),
                g.minor(),
                product,
                g.serial(),
                g.vbios(),
                g.boardPart(),
                g.computeCapability(),
                g.numaNode(),
                g.migMode(),
                g.mig(),
                g.nvlinks());
    }

    private static GpuIdentity gpu(String product) {
        return gpu(Reading.of(product));
    }

    @ParameterizedTest
    @CsvSource({
        "NVIDIA A10, NVIDIA A10, 10",
        "NVIDIA A10, NVIDIA A10G, -1",
        "NVIDIA A10, NVIDIA A100-SXM4-80GB, -1",
        "NVIDIA A100, NVIDIA A100-SXM4-80GB, 11",
        "NVIDIA L4, NVIDIA L40S, -1",
        "NVIDIA H100, NVIDIA H100 80GB HBM3, 11",
        "NVIDIA H100 80GB HBM3, NVIDIA H100, -1",
        "*, anything, 0",
        "*, '', 0",
    })
    void boardMatchesWholeWordsAtTheBeginning(String board, String product, int said) {
        assertThat(BoardLimits.said(board, product)).isEqualTo(said);
    }

    @ParameterizedTest
    @CsvSource({"Tesla T4, 8", "NVIDIA L4, 8", "NVIDIA H200, 16", "NVIDIA GB200, 1", "NVIDIA H100 80GB HBM3, 16"})
    void boardHasItsOwnLimits(String product, double lanes) {
        assertThat(BoardLimits.shipped().of(NAME, gpu(product)).orElseThrow().value())
                .isEqualTo(lanes);
    }

    @Test
    void longerBoardNameWins() {
        BoardLimits limits = BoardLimits.shipped();
        assertThat(limits.of("nvlink_links_count", gpu("NVIDIA H200"))
                        .orElseThrow()
                        .value())
                .isEqualTo(18);
        assertThat(limits.of("nvlink_links_count", gpu("NVIDIA H200 NVL"))
                        .orElseThrow()
                        .value())
                .isZero();
        assertThat(limits.of("nvlink_links_count", gpu("NVIDIA GeForce RTX 4090")))
                .isEmpty();
    }

    @Test
    void userRowWinsOverLongerBoardName() {
        BoardLimits limits = BoardLimits.shipped()
                .overriddenBy(List.of(
                        new Row(BoardLimits.ANY, NAME, 4, "my.yaml:1"), new Row("NVIDIA H100", NAME, 2, "my.yaml:3")));
        assertThat(limits.of(NAME, gpu("Tesla T4"))).contains(new Limits.Limit(NAME, 4, "my.yaml:1"));
        assertThat(limits.of(NAME, gpu("NVIDIA H100 NVL"))).contains(new Limits.Limit(NAME, 2, "my.yaml:3"));
        assertThat(limits.of(NAME)).contains(new Limits.Limit(NAME, 4, "my.yaml:1"));
    }

    @Test
    void aGpuWithoutANameHasTheGeneralLimits() {
        GpuIdentity nameless = gpu(Reading.absent(Absence.FAILED));
        BoardLimits limits = BoardLimits.shipped();
        assertThat(limits.of("pcie_replays_per_minute", nameless)).isPresent();
        assertThat(limits.of(NAME, nameless)).isEmpty();
    }

    @Test
    void theSourceNamesFileAndLine() {
        Limits.Limit limit = BoardLimits.shipped().of("pcie_replays_per_minute").orElseThrow();
        assertThat(limit.source()).matches("limits\\.tsv:\\d+, DCGM .*");
    }

    @Test
    void unknownLimitNameIsThrown() {
        BoardLimits limits = BoardLimits.shipped();
        assertThatThrownBy(() -> limits.of("pcie_width")).hasMessage("no limit is called 'pcie_width'");
        assertThatThrownBy(() -> limits.overriddenBy(List.of(new Row("*", "pcie_with", 1, "x"))))
                .hasMessage("no limit is called 'pcie_with'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*\tlanes\t4",
                "*\tlanes\tfour\tsomewhere",
                "*\tLanes\t4\tsomewhere",
                "*\tlanes\t4\t ",
                "\tlanes\t4\tsomewhere",
                "*\tlanes_count\t5\ttwice",
            })
    void wrongTableNamesItsLine(String line) {
        assertThatThrownBy(
                        () -> BoardLimits.LimitTable.read("t.tsv", List.of("# head", "*\tlanes_count\t4\thouse", line)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("t.tsv:3: ");
    }
}
