package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClientTimesTest {

    private static final ZoneId ZONE = ZoneId.of("Europe/Berlin");
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-11-21T12:00:00Z"), ZONE);

    @ParameterizedTest
    @CsvSource({
        "1h30m, 2026-11-21T10:30:00Z",
        "0, 2026-11-21T12:00:00Z",
        "2d, 2026-11-19T12:00:00Z",
        "12:30, 2026-11-21T11:30:00Z",
        "13:30, 2026-11-20T12:30:00Z",
        "12:30:15, 2026-11-21T11:30:15Z",
        "2026-11-20, 2026-11-19T23:00:00Z",
        "2026-11-20 08:00, 2026-11-20T07:00:00Z",
        "2026-07-20T08:00:00, 2026-07-20T06:00:00Z",
        "2026-11-20T08:00:00Z, 2026-11-20T08:00:00Z",
        "2026-11-20t08:00:00+05:00, 2026-11-20T03:00:00Z",
    })
    void timesAreParsedInEveryFormat(String text, Instant time) {
        assertThat(ClientTimes.parse("--since", text, CLOCK)).isEqualTo(time);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "soon", "5", "25:00", "2026-13-01", "-1h", "99999999999999d", "1h\u0000"})
    void invalidTimesAreReported(String text) {
        assertThatThrownBy(() -> ClientTimes.parse("--since", text, CLOCK))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("--since: expected an age");
    }

    @ParameterizedTest
    @CsvSource({
        "2026-11-21T12:00:00Z, 2026-11-21 13:00:00+01:00",
        "2026-07-21T12:05:09.9Z, 2026-07-21 14:05:09+02:00",
    })
    void timesAreShownInTheLocalZone(Instant time, String text) {
        assertThat(ClientTimes.local(time, ZONE)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"PT0.9S, 0s", "PT42S, 42s", "PT3M12S, 3m12s", "PT5H2M9S, 5h2m", "PT77H59M, 3d5h", "PT-5S, 0s"})
    void ageHasTwoUnits(Duration age, String text) {
        assertThat(ClientTimes.age(age)).isEqualTo(text);
    }

    @Test
    void utcIsMarkedAsSuch() {
        assertThat(ClientTimes.local(Instant.parse("2026-11-21T12:00:00Z"), ZoneId.of("UTC")))
                .isEqualTo("2026-11-21 12:00:00Z");
    }
}
