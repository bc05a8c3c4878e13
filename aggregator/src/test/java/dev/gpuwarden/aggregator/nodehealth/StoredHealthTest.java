package dev.gpuwarden.aggregator.nodehealth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.Superseded;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The order of the reports of one node by two aggregators. */
class StoredHealthTest {

    private static final Instant NOON = Instant.parse("2026-11-22T12:00:00.123456Z");

    private static StoredHealth held(String uid, Optional<StreamEpoch> claim) {
        return new StoredHealth(uid, "7", claim, 0);
    }

    @ParameterizedTest
    @CsvSource({
        // there: seconds and reporter; mine: seconds and reporter
        "0, a, 1, b, false",
        "1, a, 0, b, true",
        "0, a, 0, a, false",
        "0, a, 0, b, false",
        "0, b, 0, a, true"
    })
    void laterStreamSupersedesTheEarlier(int there, String theirs, int mine, String ours, boolean lost) {
        StoredHealth held = held("u", Optional.of(new StreamEpoch(NOON.plusSeconds(there), theirs)));
        Optional<Superseded> superseded = held.supersedes(new StreamEpoch(NOON.plusSeconds(mine), ours), "u");
        assertThat(superseded.isPresent()).isEqualTo(lost);
        superseded.ifPresent(why -> assertThat(why)
                .hasMessage("the node has opened a newer stream to " + theirs)
                .returns(false, Superseded::isOtherNode));
    }

    @Test
    void anotherNodeSupersedesAndMissingClaimDoesNot() {
        StreamEpoch mine = new StreamEpoch(NOON, "a");
        assertThat(held("u", Optional.empty()).supersedes(mine, "u")).isEmpty();
        assertThat(held("v", Optional.empty()).supersedes(mine, "u")).get().returns(true, Superseded::isOtherNode);
    }

    @Test
    void nextEpochIsLaterAlsoIfTheClockGoesBack() {
        StreamEpoch first = StreamEpoch.next(Optional.empty(), NOON, "a");
        assertThat(first.connected()).isEqualTo("2026-11-22T12:00:00.123Z");
        StreamEpoch back = StreamEpoch.next(Optional.of(first), NOON.minusSeconds(3600), "a");
        assertThat(back).isGreaterThan(first);
        StreamEpoch later = StreamEpoch.next(Optional.of(back), NOON.plusSeconds(1), "a");
        assertThat(later.connected()).isEqualTo("2026-11-22T12:00:01.123Z");
    }

    @Test
    void storedHealthIsReadFromTheResource() {
        Map<String, Object> resource = Map.of(
                "metadata",
                Map.of(
                        "resourceVersion",
                        "12",
                        "ownerReferences",
                        List.of(Map.of("kind", "Node", "name", "n1", "uid", "u"))),
                "status",
                Map.of("connected", "2026-11-22T12:00:00.001Z", "reporter", "a", "acknowledgedSequence", 5));
        assertThat(StoredHealth.of(resource))
                .isEqualTo(new StoredHealth(
                        "u", "12", Optional.of(new StreamEpoch(Instant.parse("2026-11-22T12:00:00.001Z"), "a")), 5));
        assertThat(StoredHealth.of(Map.of())).isEqualTo(new StoredHealth("", "", Optional.empty(), 0));
    }
}
