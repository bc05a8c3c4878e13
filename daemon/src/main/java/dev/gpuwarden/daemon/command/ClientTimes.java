package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import picocli.CommandLine.TypeConversionException;

/** A formatter and parser of times for users. Pure. */
final class ClientTimes {

    private ClientTimes() {}

    /** Returns local time with its offset from UTC, in whole seconds: "2026-11-21 13:05:09+01:00". */
    static String local(Instant time, ZoneId zone) {
        OffsetDateTime local = OffsetDateTime.ofInstant(time.truncatedTo(ChronoUnit.SECONDS), zone);
        // LocalTime.toString leaves out seconds that are zero.
        String seconds = local.getSecond() == 0 ? ":00" : "";
        return local.toLocalDate() + " " + local.toLocalTime() + seconds + local.getOffset();
    }

    /** Returns the two greatest units: "42s", "3m12s", "5h2m", "3d4h". */
    static String age(Duration age) {
        long seconds = Math.max(0, age.toSeconds());
        if (seconds < 3600) {
            return Durations.text(Duration.ofSeconds(seconds));
        }
        long grain = seconds < 86_400 ? 60 : 3600;
        return Durations.text(Duration.ofSeconds(seconds / grain * grain));
    }

    /**
     * Parses a time: an age ("1h30m"), a time of the last 24 hours ("14:05"), a day, or a local or ISO 8601 time.
     *
     * @throws UserError that names the option
     */
    static Instant parse(String option, String text, Clock clock) {
        Instant now = clock.instant();
        ZoneId zone = clock.getZone();
        String iso = text.strip().toUpperCase(Locale.ROOT).replace(' ', 'T');
        List<Function<String, Instant>> forms = List.of(
                t -> now.minus(Durations.parse(text.strip())),
                t -> OffsetDateTime.parse(t).toInstant(),
                t -> LocalDateTime.parse(t).atZone(zone).toInstant(),
                t -> LocalDate.parse(t).atStartOfDay(zone).toInstant(),
                t -> lately(LocalTime.parse(t), now, zone));
        return forms.stream()
                .flatMap(form -> attempt(form, iso).stream())
                .findFirst()
                .orElseThrow(() -> new UserError(option + ": expected an age (90m, 2d) or a time (14:05,"
                        + " 2026-11-21, 2026-11-21 14:05:00, 2026-11-21T14:05:00Z), but was '" + text + "'"));
    }

    private static Optional<Instant> attempt(Function<String, Instant> form, String text) {
        try {
            return Optional.of(form.apply(text));
        } catch (DateTimeException | ArithmeticException | TypeConversionException e) {
            return Optional.empty();
        }
    }

    private static Instant lately(LocalTime time, Instant now, ZoneId zone) {
        LocalDateTime today = LocalDate.ofInstant(now, zone).atTime(time);
        Instant at = today.atZone(zone).toInstant();
        return at.isAfter(now) ? today.minusDays(1).atZone(zone).toInstant() : at;
    }
}
