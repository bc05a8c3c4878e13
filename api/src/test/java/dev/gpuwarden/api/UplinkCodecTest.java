package dev.gpuwarden.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.FaultPage;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class UplinkCodecTest {

    private static List<Fault> faults(int count, String message) {
        return IntStream.range(0, count)
                .mapToObj(i -> {
                    HealthEvent cause = HealthEvent.of("agent", "GPU", "Check")
                            .id("e" + i)
                            .message(message)
                            .entities(List.of(Entity.gpu("GPU-" + i)))
                            .build();
                    return new Fault(cause.keys().get(0), cause, i, Instant.EPOCH, Instant.EPOCH, 1);
                })
                .toList();
    }

    private static List<FaultPage> pages(List<Fault> faults) {
        List<FaultPage> pages = new ArrayList<>();
        UplinkCodec.pages(7, 9, faults).forEachRemaining(report -> pages.add(report.getFaults()));
        return pages;
    }

    @Test
    void noFaultsAreOneEmptyPage() {
        assertThat(pages(List.of()))
                .containsExactly(FaultPage.newBuilder()
                        .setGeneration(7)
                        .setAsOfSequence(9)
                        .setLast(true)
                        .build());
    }

    @Test
    void pagesAreBoundedAndOnlyTheLastIsMarked() {
        assertThat(pages(faults(500, ""))).extracting(FaultPage::getLast).containsExactly(true);
        List<FaultPage> pages = pages(faults(1001, ""));
        assertThat(pages).extracting(FaultPage::getFaultsCount).containsExactly(500, 500, 1);
        assertThat(pages).extracting(FaultPage::getLast).containsExactly(false, false, true);
        assertThat(pages).extracting(FaultPage::getGeneration).containsOnly(7L);
    }

    @Test
    void longMessagesMakeSmallerPagesAndNothingIsLost() {
        List<FaultPage> pages = pages(faults(300, "\u20ac".repeat(16_000)));
        assertThat(pages)
                .allSatisfy(page -> assertThat(page.getSerializedSize()).isLessThan(UplinkCodec.PAGE_BYTES + 64));
        assertThat(pages.stream().flatMap(page -> page.getFaultsList().stream()).map(fault -> fault.getSequence()))
                .containsExactlyElementsOf(
                        IntStream.range(0, 300).mapToObj(Long::valueOf).toList());
    }
}
