package dev.gpuwarden.checks.compute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FailureCausesTest {

    private static final CollectiveException INTERNAL = new CollectiveException(Kind.COLLECTIVES, 3, "internal");
    private static final CollectiveException REMOTE = new CollectiveException(Kind.COLLECTIVES, 6, "remote");
    private static final CollectiveException LATE = new CollectiveException(Kind.TIMEOUT, 0, "late");
    private static final CollectiveException ABORTED = new CollectiveException(Kind.ABORTED, 0, "aborted");

    @Test
    void failureWithACauseOfItsOwnIsTheOnlyOne() {
        assertThat(FailureCauses.of(Map.of(0, REMOTE, 1, INTERNAL, 2, ABORTED, 3, LATE), 4))
                .containsExactly(Map.entry(1, INTERNAL));
    }

    @Test
    void timeThatIsOverLosesConnectionsAndIsOfAll() {
        assertThat(FailureCauses.of(Map.of(0, REMOTE, 2, LATE), 3))
                .hasSize(3)
                .containsValue(LATE)
                .doesNotContainValue(REMOTE);
    }

    @Test
    void lostConnectionsWithoutACauseAreOfAll() {
        assertThat(FailureCauses.of(Map.of(0, ABORTED, 1, REMOTE), 2))
                .containsExactly(Map.entry(0, REMOTE), Map.entry(1, REMOTE));
        assertThat(FailureCauses.of(Map.of(), 2))
                .hasSize(2)
                .allSatisfy((place, why) -> assertThat(why.kind()).isEqualTo(Kind.TIMEOUT));
    }
}
