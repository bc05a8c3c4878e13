package dev.gpuwarden.checks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SourcesTest {

    /** Stands for the driver of a new library. */
    private record Diagnostics(int version) {}

    private static CheckContext context(Sources sources, boolean loads) {
        NodeSnapshot node = NodeFixture.node(1);
        Path none = Path.of("/none");
        return CheckEnvironment.once(node, Limits.NONE, Expectations.NONE, NodePaths.of(none, none, none))
                .with(sources)
                .context(node, new CounterHistory(), "check", loads, progress -> {}, proven -> {});
    }

    @Test
    void aCheckGetsWhatTheProgramRegisteredAndNothingIsOpenedBefore() {
        AtomicInteger openings = new AtomicInteger();
        Sources sources =
                Sources.NONE.with(Diagnostics.class, () -> Reading.of(new Diagnostics(openings.addAndGet(1))));
        CheckContext check = context(sources, true);
        assertThat(openings).hasValue(0);
        assertThat(check.source(Diagnostics.class)).isEqualTo(Reading.of(new Diagnostics(1)));
        CheckContext other =
                context(sources.with(Diagnostics.class, () -> Reading.absent(Absence.FAILED, 7, "why")), true);
        assertThat(other.source(Diagnostics.class)).isEqualTo(Reading.absent(Absence.FAILED, 7, "why"));
        assertThat(check.source(Diagnostics.class)).isEqualTo(Reading.of(new Diagnostics(2)));
    }

    @Test
    void aSourceThatTheProgramHasNotIsAbsentWithItsName() {
        assertThat(context(Sources.NONE, false).source(Diagnostics.class))
                .isEqualTo(Reading.absent(Absence.NOT_SUPPORTED, 0, "this program has no source of Diagnostics"));
    }

    @Test
    void aCheckWithALoadIsRefusedWhatItsChildProcessCannotHave() {
        Sources sources = Sources.NONE.withLocal(LeftOut.class, () -> Reading.of(LeftOut.NONE));
        assertThat(context(sources, false).source(LeftOut.class)).isEqualTo(Reading.of(LeftOut.NONE));
        assertThatThrownBy(() -> context(sources, true).source(LeftOut.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the source LeftOut");
    }

    @Test
    void aProgramWithoutAPermissionGivesNoGpu() {
        CheckContext check = context(Sources.NONE, true);
        assertThat(check.access().request("check", GpuLoad.LIGHT, check.node().gpus()))
                .containsExactly(new Refusal(
                        "not-permitted",
                        "this program has no source of GpuAccess: not supported by this board or driver"));
    }
}
