package dev.gpuwarden.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EventLimitsTest {

    @Test
    void takesWhatRealSendersSend() {
        assertThat(EventLimits.violation(HealthEvent.of("agent", "GPU", "check")
                        .message("m".repeat(4096))
                        .entities(List.of(new Entity(Entity.PCI, "0000:3b:00"), Entity.gpu("GPU-1")))
                        .errorCodes(List.of("79"))
                        .build()))
                .isEmpty();
    }

    @Test
    void refusesWhatNamesNoCheck() {
        assertThat(EventLimits.violation(HealthEvent.of("agent", "GPU", "").build()))
                .isPresent();
    }

    @Test
    void refusesTooMuchText() {
        assertThat(EventLimits.violation(HealthEvent.of("agent", "GPU", "check")
                        .message("m".repeat(EventLimits.CHARACTERS))
                        .build()))
                .hasValueSatisfying(text -> assertThat(text).contains("16384").contains("16397"));
    }

    @Test
    void refusesListsWhoseProductIsTooLong() {
        HealthEvent many = HealthEvent.of("agent", "GPU", "check")
                .entities(Collections.nCopies(100, Entity.gpu("g")))
                .errorCodes(Collections.nCopies(100, "c"))
                .build();
        assertThat(EventLimits.violation(many))
                .hasValueSatisfying(text -> assertThat(text).contains("100 entities"));
    }

    @Test
    void refusesTooManyMetadata() {
        Map<String, String> many = IntStream.rangeClosed(0, EventLimits.METADATA)
                .boxed()
                .collect(Collectors.toMap(i -> "k" + i, i -> "v"));
        assertThat(EventLimits.violation(
                        HealthEvent.of("agent", "GPU", "check").metadata(many).build()))
                .isPresent();
    }
}
