package dev.gpuwarden.api.kube;

import static dev.gpuwarden.core.event.Told.faults;
import static dev.gpuwarden.core.event.Told.xid79;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Told;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FaultTextTest {

    @Test
    void eachEventIsOneItemWithItsCurrentFaults() {
        HealthEvent both = xid79("0000:3b:00").build();
        HealthEvent links = Told.fatal("NvLink")
                .errorCodes(List.of("a", "b"))
                .entities(List.of(new Entity("NVLINK", "1"), new Entity("NVLINK", "2")))
                .message("down")
                .build();
        HealthEvent oneWell = Told.fatal("NvLink")
                .fatal(false)
                .healthy(true)
                .entities(List.of(new Entity("NVLINK", "1")))
                .build();
        assertThat(FaultText.of(faults(both, links, oneWell), false))
                .isEqualTo("ErrorCode:79 PCI:0000:3b:00 GPU_UUID:GPU-0000:3b:00 fell off the bus"
                        + " Recommended Action=RESTART_BM;"
                        + " ErrorCode:a ErrorCode:b NVLINK:2 down Recommended Action=NONE;");
    }

    @Test
    void bareEventHasItsAction() {
        assertThat(FaultText.of(faults(Told.fatal("X").build()), false)).isEqualTo("Recommended Action=NONE;");
        assertThat(FaultText.of(faults(Told.fatal("X").build()), true)).isEqualTo("Check:X Recommended Action=NONE;");
    }

    @Test
    void untrustedTextBreaksNoItemAndNoLine() {
        HealthEvent event = Told.fatal("X")
                .message("a; b\nc\u001b[31m\td")
                .errorCodes(List.of("1;2"))
                .build();
        assertThat(FaultText.of(event)).isEqualTo("ErrorCode:1.2 a. b c [31m d Recommended Action=NONE;");
    }

    @Test
    void itemsWithoutRoomAreCounted() {
        HealthEvent[] many = IntStream.range(0, 40)
                .mapToObj(i -> Told.fatal("X")
                        .errorCodes(List.of(Integer.toString(i)))
                        .message("m".repeat(5000))
                        .build())
                .toArray(HealthEvent[]::new);
        String text = FaultText.of(faults(many), false);
        assertThat(text).hasSizeLessThanOrEqualTo(FaultText.LONGEST).endsWith(" 37 more, see `gpuwarden status`;");
        HealthEvent wide = Told.fatal("X")
                .entities(IntStream.range(0, 100)
                        .mapToObj(i -> new Entity("NVLINK", Integer.toString(i)))
                        .toList())
                .build();
        assertThat(FaultText.of(faults(wide), false)).contains("NVLINK:15 and 84 more ");
    }

    @Test
    void surrogatePairIsNotSplit() {
        assertThat(FaultText.line("aaaa\ud83d\ude00bbb", 6)).isEqualTo("aaaa…");
    }
}
