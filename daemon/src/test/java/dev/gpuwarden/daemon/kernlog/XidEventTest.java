package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.kernel.ErrorNumber;
import dev.gpuwarden.core.kernel.XidEvent;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The event of a number without a line is the one that the classifier makes of a line without further words. */
class XidEventTest {

    private static final List<Entity> GPU =
            List.of(new Entity("PCI", "0000:03:00"), new Entity("GPU_UUID", ClassifierFixture.GPU));

    @Test
    void eventOfEachNumberIsThatOfItsLine() {
        List<ErrorNumber> numbers = IntStream.range(0, 1000)
                .mapToObj(ErrorNumber::of)
                .filter(number -> number.known() && number.note().isEmpty())
                .toList();
        assertThat(numbers).hasSizeGreaterThan(100);
        for (ErrorNumber number : numbers) {
            ClassifierFixture log = new ClassifierFixture();
            log.driverLists("0000:03:00.0", ClassifierFixture.GPU)
                    .kernel("NVRM: Xid (PCI:0000:03:00): " + number.number() + ", pid=1, name=a, text");
            List<HealthEvent> expected =
                    log.flush().stream().map(XidEventTest::bare).toList();
            assertThat(XidEvent.of(number, "node1", GPU, Instant.EPOCH).stream().map(XidEventTest::bare))
                    .as("XID %s", number.number())
                    .isEqualTo(expected);
        }
    }

    /** Returns the event without what only a line or a store can give. */
    private static HealthEvent bare(HealthEvent event) {
        return event.toBuilder()
                .id("")
                .message("")
                .metadata(Map.of("severity", event.metadata().getOrDefault("severity", "")))
                .generated(Instant.EPOCH)
                .build();
    }
}
