package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** XIDs of several GPUs that only together are a reason to suspect the fabric. */
class FabricEventTest {

    private final ClassifierFixture log = new ClassifierFixture();

    private static String ended(String gpu) {
        return "NVRM: Xid (PCI:0000:" + gpu + ":00): 45, pid=1, name=a, Ch 1 caused by previous Xid 145";
    }

    private static List<HealthEvent> ofFabric(List<HealthEvent> events) {
        return events.stream()
                .filter(event -> event.errorCodes().contains("nvlink-fabric-suspect"))
                .toList();
    }

    @Test
    void xidsOfSeveralGpusNameTheFabric() {
        log.kernel(ended("3b"));
        assertThat(ofFabric(log.flush())).isEmpty();
        log.after(Duration.ofSeconds(5)).kernel(ended("3c"));
        assertThat(ofFabric(log.flush())).singleElement().satisfies(event -> {
            assertThat(event.checkName()).isEqualTo("SysLogsDriverError");
            assertThat(event.fatal()).isFalse();
            assertThat(event.generated()).isEqualTo(TestClock.START.plusSeconds(5));
            assertThat(event.metadata()).containsEntry("gpus", "0000:3b:00.0 0000:3c:00.0");
        });
    }

    @Test
    void unprovenLineProvesNothingAboutTheFabric() {
        log.kernel(ended("3b")).record(Writer.UNTOLD, Instant.EPOCH, ended("3c"));
        assertThat(ofFabric(log.flush())).isEmpty();
    }
}
