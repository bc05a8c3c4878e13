package dev.gpuwarden.aggregator.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.fleet.HealthRead;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReportsTest {

    private static final Instant T0 = Instant.parse("2026-11-22T03:00:00Z");

    @ParameterizedTest
    @CsvSource({
        "0, 1, false, 20, false, heard at once",
        "0, 1, false, 40, true, long ago",
        "0, 20, false, 20, true, the watch had been away",
        "0, 20, true, 20, false, somebody has asked",
        "0, 20, true, 60, true, and that is long ago",
    })
    void isOldWhereThereMayBeANewerOne(int reported, int heard, boolean answered, int now, boolean old, String why) {
        Map<String, Object> tree =
                Map.of("status", Map.of("reported", T0.plusSeconds(reported).toString()));
        HealthRead health = new HealthRead(tree, T0.plusSeconds(heard), answered);
        assertThat(Reports.isOld(health, T0.plusSeconds(now))).as(why).isEqualTo(old);
    }

    @ParameterizedTest
    @CsvSource({"yesterday", "''"})
    void whatCannotBeReadIsOld(String reported) {
        HealthRead health = new HealthRead(Map.of("status", Map.of("reported", reported)), T0, false);
        assertThat(Reports.isOld(health, T0)).isTrue();
    }
}
