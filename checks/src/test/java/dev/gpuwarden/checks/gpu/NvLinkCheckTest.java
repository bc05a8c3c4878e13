package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NvLinkCheckTest {

    private static final String PCIE = "NVIDIA A100 80GB PCIe";
    private static final String SXM = "NVIDIA A100-SXM4-80GB";
    private static final Limits LIMITS = BoardLimits.shipped();

    /** One character for each link: 1 up, 0 down, z asleep, ? unreadable, - not reported. */
    private static Consumer<GpuFrame> links(String states) {
        return frame -> {
            Gpus.put(frame, GpuMetric.NVLINK_LINKS, states.length());
            for (int link = 0; link < states.length(); link++) {
                int slot = GpuFrame.slot(LinkMetric.STATE, link);
                switch (states.charAt(link)) {
                    case '1' -> frame.put(slot, 1);
                    case 'z' -> frame.put(slot, 2);
                    case '?' -> frame.putAbsent(slot, Absence.FAILED, 999);
                    case '-' -> frame.putAbsent(slot, Absence.NOT_SUPPORTED, 3);
                    default -> frame.put(slot, 0);
                }
            }
        };
    }

    private static NodeSnapshot node(String product, String... states) {
        GpuSnapshot[] gpus = new GpuSnapshot[states.length];
        for (int i = 0; i < states.length; i++) {
            gpus[i] = Gpus.gpu(i, product, links(states[i]));
        }
        return Snapshots.running(states.length, gpus);
    }

    private static Finding first(NodeSnapshot node, Map<String, Long> notes) {
        return new NvLinkCheck()
                .finding(node.gpus().get(0), new Gpus.Context(node, GpuHistory.NONE, LIMITS, notes, Instant.EPOCH));
    }

    private static String judged(NodeSnapshot node) {
        Finding finding = first(node, new HashMap<>());
        return finding.outcome() + " " + finding.code();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            unbridged boards                    | 0000                | SKIPPED nvlink-not-connected
            two unbridged boards                | 0000 0000           | SKIPPED nvlink-not-connected
            one bridge of two                   | 1100 1100           | PASS nvlink-up
            a pair and a single board           | 0000 1111 1111      | SKIPPED nvlink-not-connected
            two pairs, one with fewer bridges   | 1100 1100 1111 1111 | PASS nvlink-up
            a link down that all others have up | 1101 1111 1111      | FAIL nvlink-down
            asleep                              | zzzz 1111 1111      | PASS nvlink-up
            unreadable                          | 11?1 1111           | UNKNOWN not-readable
            not told                            | ---- 1111           | SKIPPED not-supported
            """)
    void bridgesAreOptional(String what, String states, String judged) {
        assertThat(judged(node(PCIE, states.split(" ")))).as(what).isEqualTo(judged);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            all up                               | 111111111111 111111111111 | PASS nvlink-up
            one down                             | 111111011111 111111111111 | FAIL nvlink-down
            all down, the other's up             | 000000000000 111111111111 | FAIL nvlink-down
            all down, on all                     | 000000000000 000000000000 | WARN nvlink-down-everywhere
            passed through alone: nobody to link | 000000000000              | SKIPPED nvlink-not-connected
            """)
    void baseboardsHaveAllLinks(String what, String states, String judged) {
        assertThat(judged(node(SXM, states.split(" ")))).as(what).isEqualTo(judged);
    }

    @Test
    void linkThatWasUpBeforeIsMissedOnAnyBoard() {
        Map<String, Long> notes = new HashMap<>();
        assertThat(first(node(PCIE, "1111", "1111"), notes).code()).isEqualTo("nvlink-up");
        Finding finding = first(node(PCIE, "1010", "1010"), notes);
        assertThat(finding.code()).isEqualTo("nvlink-down");
        assertThat(finding.action()).isEqualTo(RecommendedAction.COMPONENT_RESET);
        assertThat(finding.message())
                .isEqualTo("GPU 0 (0000:10:00.0): expected NVLinks up that were up before, but down are 1, 3");
        assertThat(first(node(PCIE, "1111", "1111"), notes).code()).isEqualTo("nvlink-up");
        assertThat(notes).hasSize(1);
    }

    @Test
    void linksOfAYoungNodeMayTrainUnlessTheyWereUp() {
        Map<String, Long> notes = new HashMap<>();
        NodeSnapshot training = node(SXM, "111111111100", "111111111111");
        Finding finding = young(training, notes);
        assertThat(finding.outcome() + " " + finding.code()).isEqualTo("UNKNOWN nvlink-training");
        assertThat(finding.message()).contains("NVLinks 10, 11 are not up yet; the node is young");
        assertThat(first(training, notes).code()).as("ten minutes later").isEqualTo("nvlink-down");
        assertThat(young(node(PCIE, "1101", "1111"), new HashMap<>()).code()).isEqualTo("nvlink-training");
        assertThat(young(node(SXM, "000000000000", "000000000000"), new HashMap<>())
                        .code())
                .isEqualTo("nvlink-training");
        assertThat(young(node(PCIE, "1100", "1100"), new HashMap<>()).code())
                .as("no link is expected")
                .isEqualTo("nvlink-up");
        assertThat(young(node(SXM, "111111111111", "111111111111"), notes).code())
                .isEqualTo("nvlink-up");
        assertThat(young(training, notes).code()).as("it was up").isEqualTo("nvlink-down");
    }

    private static Finding young(NodeSnapshot node, Map<String, Long> notes) {
        return new NvLinkCheck()
                .finding(
                        node.gpus().get(0),
                        new Gpus.Context(
                                node, GpuHistory.NONE, LIMITS, notes, Instant.EPOCH, Optional.of("the node is young")));
    }

    @Test
    void boardsOfOtherKindsAreIgnored() {
        GpuSnapshot one = Gpus.gpu(0, PCIE, links("0111"));
        GpuSnapshot other = Gpus.gpu(1, "NVIDIA A40", links("1111"));
        assertThat(judged(Snapshots.running(2, one, other))).isEqualTo("PASS nvlink-up");
    }

    @Test
    void partitionedGpusAndGpusWithoutLinksAreSkipped() {
        GpuSnapshot mig = Gpus.gpu(0, SXM, frame -> {
            links("000000000000").accept(frame);
            Gpus.put(frame, GpuMetric.MIG_MODE, 1);
        });
        GpuSnapshot other = Gpus.gpu(1, SXM, links("111111111111"));
        assertThat(judged(Snapshots.running(2, mig, other))).isEqualTo("SKIPPED nvlink-unused");
        assertThat(judged(node("Tesla T4", ""))).isEqualTo("SKIPPED no-nvlink");
        GpuSnapshot unsupported = Gpus.gpu(frame -> Gpus.absent(frame, Absence.NOT_SUPPORTED, GpuMetric.NVLINK_LINKS));
        assertThat(judged(Snapshots.running(1, unsupported))).isEqualTo("SKIPPED not-supported");
    }

    @Test
    void messageIsBoundedWhenEveryLinkHasErrors() {
        GpuSnapshot gpu = Gpus.gpu(0, PCIE, frame -> {
            links("1".repeat(12)).accept(frame);
            for (int link = 0; link < 12; link++) {
                frame.put(GpuFrame.slot(LinkMetric.REPLAYS, link), 7);
                frame.put(GpuFrame.slot(LinkMetric.RECOVERIES, link), 7);
            }
        });
        Finding finding = Gpus.finding(new NvLinkCheck(), gpu, Gpus.history(Reading.of(50L), Reading.of(0.0)), LIMITS);
        assertThat(finding.code()).isEqualTo("nvlink-errors");
        assertThat(finding.message()).hasSizeLessThan(700).endsWith(" and 18 more");
        assertThat(finding.evidence()).hasSize(6);
    }

    @ParameterizedTest
    @CsvSource({"0x1, 0", "0x30, '4, 5'", "0x1f, 0 to 4", "0x8000000000000000, 63", "0xb, '0, 1, 3'"})
    void linksAreNamedInRuns(String mask, String names) {
        assertThat(Links.names(Long.parseUnsignedLong(mask.substring(2), 16))).isEqualTo(names);
    }
}
