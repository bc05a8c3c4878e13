package dev.gpuwarden.checks.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GoDurationTest {

    @ParameterizedTest
    @CsvSource({
        "0, PT0S",
        "30s, PT30S",
        "86400s, PT24H",
        "3m, PT3M",
        "1h30m, PT1H30M",
        "1.5h, PT1H30M",
        "250ms, PT0.25S",
        "1m0.5s, PT1M0.5S"
    })
    void parsesGoDurations(String text, Duration duration) {
        assertThat(NpdConfig.parse(text)).contains(duration);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "30", "s", "1d", "-1s", "1 s", "1s ", "30sec", "9999999999s"})
    void otherTextsAreRefused(String text) {
        assertThat(NpdConfig.parse(text)).isEmpty();
    }
}
