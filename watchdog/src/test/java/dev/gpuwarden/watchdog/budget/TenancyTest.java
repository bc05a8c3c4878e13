package dev.gpuwarden.watchdog.budget;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuMemory;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.MemoryAttribution;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class TenancyTest {

    private static final GpuIdentity GPU = GpuIdentity.unknown(0, new Reading.Absent<>(Absence.NO_DATA, 0, ""));

    private static GpuProcess process(int pid, OptionalInt instance, Reading<Long> used) {
        Reading<Integer> in =
                instance.isPresent() ? Reading.of(instance.getAsInt()) : Reading.absent(Absence.NOT_SUPPORTED);
        return new GpuProcess(pid, GpuProcess.Type.COMPUTE, used, in, in);
    }

    private static Reading<Long> used(GpuProcess... listed) {
        Reading<Long> unknown = Reading.absent(Absence.NO_DATA);
        List<Tenant> tenants = Tenancy.tenants(
                        MemoryAttribution.attribute(
                                GPU,
                                new GpuMemory(unknown, unknown, unknown, unknown),
                                Reading.of(List.of(listed)),
                                pid -> new ProcessFacts(
                                        Reading.of(1L), Reading.of("python"), new Owner.Unit("a.service"))),
                        List.of())
                .asOptional()
                .orElseThrow();
        assertThat(tenants).hasSize(1);
        return tenants.get(0).used();
    }

    @Test
    void aProcessThatIsListedTwiceHoldsItsMemoryOnce() {
        assertThat(used(
                        process(7, OptionalInt.of(1), Reading.of(500L)),
                        process(7, OptionalInt.of(2), Reading.of(600L)),
                        process(8, OptionalInt.empty(), Reading.of(40L))))
                .isEqualTo(Reading.of(640L));
    }

    @Test
    void aValueThatCannotBeIsNotHiddenByOneThatIsMissing() {
        Reading<Long> silent = Reading.absent(Absence.NOT_SUPPORTED);
        Reading<Long> wrong = Reading.absent(Absence.IMPLAUSIBLE);
        assertThat(used(process(7, OptionalInt.empty(), silent), process(8, OptionalInt.empty(), wrong)))
                .isEqualTo(wrong);
        assertThat(used(process(7, OptionalInt.empty(), wrong), process(8, OptionalInt.empty(), silent)))
                .isEqualTo(wrong);
        assertThat(used(process(7, OptionalInt.empty(), Reading.of(1L)), process(8, OptionalInt.empty(), silent)))
                .isEqualTo(silent);
    }
}
