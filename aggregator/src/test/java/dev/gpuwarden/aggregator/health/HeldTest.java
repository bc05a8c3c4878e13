package dev.gpuwarden.aggregator.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which of two aggregators' tellings of a node stays. */
class HeldTest {

    private static final Instant NOON = Instant.parse("2026-11-22T12:00:00.123456Z");

    private static Held held(String uid, Optional<Claim> claim) {
        return new Held(uid, "7", claim, 0);
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
    void theLaterStreamStays(int there, String theirs, int mine, String ours, boolean lost) {
        Held held = held("u", Optional.of(new Claim(NOON.plusSeconds(there), theirs)));
        Optional<Superseded> superseded = held.supersedes(new Claim(NOON.plusSeconds(mine), ours), "u");
        assertThat(superseded.isPresent()).isEqualTo(lost);
        superseded.ifPresent(why -> assertThat(why)
                .hasMessage("the node has opened a newer stream to " + theirs)
                .returns(false, Superseded::isOtherNode));
    }

    @Test
    void nothingIsLostToNothingAndAllToAnotherNode() {
        Claim mine = new Claim(NOON, "a");
        assertThat(held("u", Optional.empty()).supersedes(mine, "u")).isEmpty();
        assertThat(held("v", Optional.empty()).supersedes(mine, "u")).get().returns(true, Superseded::isOtherNode);
    }

    @Test
    void aStreamThatSawAnotherIsLaterWhateverTheClockSays() {
        Claim first = Claim.next(Optional.empty(), NOON, "a");
        assertThat(first.connected()).isEqualTo("2026-11-22T12:00:00.123Z");
        Claim back = Claim.next(Optional.of(first), NOON.minusSeconds(3600), "a");
        assertThat(back).isGreaterThan(first);
        Claim later = Claim.next(Optional.of(back), NOON.plusSeconds(1), "a");
        assertThat(later.connected()).isEqualTo("2026-11-22T12:00:01.123Z");
    }

    @Test
    void isReadFromTheResource() {
        Map<String, Object> resource = Map.of(
                "metadata",
                Map.of(
                        "resourceVersion",
                        "12",
                        "ownerReferences",
                        List.of(Map.of("kind", "Node", "name", "n1", "uid", "u"))),
                "status",
                Map.of("connected", "2026-11-22T12:00:00.001Z", "reporter", "a", "acknowledgedSequence", 5));
        assertThat(Held.of(resource))
                .isEqualTo(
                        new Held("u", "12", Optional.of(new Claim(Instant.parse("2026-11-22T12:00:00.001Z"), "a")), 5));
        assertThat(Held.of(Map.of())).isEqualTo(new Held("", "", Optional.empty(), 0));
    }
}
