package dev.gpuwarden.aggregator.vram;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CardEvidenceTest {

    private static final String UNUSED = "-";

    private static CardEvidence evidence(String labels, String capacity, OptionalLong reported) {
        Map<String, Object> map = new LinkedHashMap<>();
        if (!labels.equals(UNUSED)) {
            for (String label : labels.split(" ")) {
                map.put("nvidia.com/gpu." + label.split("=")[0], label.split("=")[1]);
            }
        }
        return CardEvidence.of(
                Map.of(
                        "metadata",
                        Map.of("labels", map),
                        "status",
                        Map.of("capacity", capacity.equals(UNUSED) ? Map.of() : Map.of("nvidia.com/gpu", capacity))),
                reported);
    }

    @ParameterizedTest
    @CsvSource({
        "count=8 memory=23034, 8, 184272",
        "count=8 memory=23034, 64, 184272",
        "count=1 memory=15360 replicas=100 sharing-strategy=time-slicing, 100, 15360",
        "count=1 memory=1536 replicas=10 sharing-strategy=mps, 10, 15360",
        "replicas=100, 800, 2359296",
        "memory=15360, 2, 30720",
        "-, 4, 1179648",
        "-, -, 294912",
        // A label that is no number, none at all, or one that no card has.
        "count=x memory=y, 2, 589824",
        "count=0 memory=-1, 2, 589824",
        "count=1 memory=99999999, 1, 294912",
        "count=9999 memory=1, -, 64",
    })
    void aNodeHasAtMostWhatItsNodeShows(String labels, String capacity, long most) {
        CardEvidence evidence = evidence(labels, capacity, OptionalLong.empty());
        assertThat(evidence.refusal(most, OptionalLong.empty())).isEmpty();
        assertThat(evidence.refusal(most + 1, OptionalLong.empty())).isPresent();
    }

    @Test
    void aStolenTokenDoesNotMakeItsNodeTheLargest() {
        CardEvidence evidence = evidence("count=4 memory=23034", "4", OptionalLong.of(64));
        assertThat(evidence.refusal(63L << 20, OptionalLong.empty()))
                .contains(
                        "expected at most 92136 MiB, as 4 GPUs of 23034 MiB have by the label nvidia.com/gpu.count and"
                                + " the label nvidia.com/gpu.memory, seen 66060288");
        assertThat(evidence.refusal(90000, OptionalLong.of(22000))).isEmpty();
        assertThat(evidence.refusal(90000, OptionalLong.of(80000)))
                .contains("expected a largest card of at most 23034 MiB by the label nvidia.com/gpu.count and the label"
                        + " nvidia.com/gpu.memory, seen 80000");
    }

    @Test
    void itsOwnReportCountsOnlyWhereTheNodeShowsNoNumber() {
        assertThat(evidence(UNUSED, UNUSED, OptionalLong.of(8)).cards()).isEqualTo(8);
        assertThat(evidence(UNUSED, "2", OptionalLong.of(8)).cards()).isEqualTo(2);
    }
}
