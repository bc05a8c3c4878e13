package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.watchdog.decision.Card.Resident;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tenants that end, or should, while another one leaks. */
class EndingTenantsTest {

    private static final Consumer<Duration> NOTHING = now -> {};

    private final Card card = new Card(15360, 0);

    /** Leaves 460 MiB free. */
    private Resident leak(long usedByOthersMib) {
        return card.add("hog", 3000, 15360 - 460 - usedByOthersMib);
    }

    private Optional<String> nextRecycled(Duration most) {
        return card.until(Verdict.RECYCLE, most, NOTHING)
                .flatMap(Decision::recycled)
                .map(Tenant::name);
    }

    @Test
    void aTenantThatStaysEndingDoesNotProtectTheOthers() {
        card.add("stuck", 1000, 900).leaving = true;
        leak(900);
        assertThat(nextRecycled(Duration.ofSeconds(59))).isEmpty();
        assertThat(card.last().verdict()).isEqualTo(Verdict.RELEASING);
        assertThat(nextRecycled(Duration.ofSeconds(5))).contains("hog");
    }

    @Test
    void theAlertAboutAStuckTenantStays() {
        card.add("stuck", 1000, 900).leaving = true;
        Resident hog = leak(900);
        assertThat(nextRecycled(Duration.ofSeconds(65))).contains("hog");
        hog.usedMib = 0;
        card.until(Verdict.NOT_RELEASED, Duration.ofMinutes(1), NOTHING);
        assertThat(card.until(Verdict.CALM, Duration.ofMinutes(30), NOTHING)).isEmpty();
        assertThat(card.last().verdict()).isEqualTo(Verdict.NOT_RELEASED);
        assertThat(card.last().reason())
                .matches("the memory of stuck is not back after \\d+ s; without it: \\d+ MiB free");
        card.residents.remove("stuck");
        assertThat(card.until(Verdict.CALM, Duration.ofSeconds(2), NOTHING)).isPresent();
    }

    @Test
    void aRowOfEndingTenantsDoesNotProtectTheOthersEither() {
        leak(900);
        for (int i = 0; i < 3; i++) {
            card.add("pod-" + i, 1000, 900).leaving = true;
            Optional<String> recycled = nextRecycled(Duration.ofSeconds(45));
            if (i > 0) {
                assertThat(recycled).contains("hog");
                return;
            }
            assertThat(recycled).isEmpty();
            card.residents.remove("pod-" + i);
            card.add("next", 1000, 900).leaving = true;
            card.residents.get("next").id = "next-" + i;
            card.until(Verdict.RELEASING, Duration.ofSeconds(1), NOTHING);
            card.residents.remove("next");
        }
    }

    @Test
    void aStuckTenantDoesNotHastenASecondRecycle() {
        card.add("stuck", 1000, 900).leaving = true;
        Resident first = leak(900 + 4000);
        card.add("second", 1000, 4000);
        assertThat(nextRecycled(Duration.ofSeconds(65))).contains("hog");
        first.leaving = true;
        assertThat(nextRecycled(Duration.ofSeconds(55)))
                .as("the first has its time")
                .isEmpty();
        assertThat(nextRecycled(Duration.ofSeconds(10))).contains("second");
        assertThat(List.copyOf(card.history.state().byWorkload().keySet())).containsExactly("hog", "second");
    }
}
