package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MicroTimeTest {

    @ParameterizedTest
    @CsvSource({
        "2026-11-29T07:06:23Z,           2026-11-29T07:06:23.000000Z",
        "2026-11-29T07:06:23.952Z,       2026-11-29T07:06:23.952000Z",
        "2026-11-29T07:06:23.952001999Z, 2026-11-29T07:06:23.952001Z",
    })
    void eachTimeHasSixDigitsOfASecond(Instant time, String text) {
        assertThat(MicroTime.of(time)).isEqualTo(text);
    }
}
