package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DriverBranchTest {

    /** Drivers before R575 and since read these words differently. */
    private static final String LINE = "NVRM: Xid (PCI:0000:04:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00"
            + " (0x025001c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)";

    private final TestClock time = new TestClock();
    private DriverState driver = new DriverState.Opening();
    private int asked;

    private final KernelLogParser parser = DriverBranch.parser(
            () -> {
                asked++;
                return driver;
            },
            time);

    private static DriverState running(String version) {
        return new DriverState.Running(new DriverInfo(
                "nvml",
                Reading.absent(Absence.NO_DATA),
                Reading.absent(Absence.NO_DATA),
                Reading.of(version),
                Reading.absent(Absence.NO_DATA),
                ""));
    }

    private static Signal as(int branch) {
        return KernelLogParser.standard().withDriverBranch(branch).parse(LINE).orElseThrow();
    }

    @Test
    void driverIsLookedUpWhenALineDependsOnIt() {
        assertThat(parser.parse("EXT4-fs (vda): mounted")).isEmpty();
        assertThat(parser.parse(ClassifierFixture.XID79)).isPresent();
        assertThat(asked).isZero();
        assertThat(parser.parse(LINE)).isEqualTo(KernelLogParser.standard().parse(LINE));
        driver = running("550.144.03");
        parser.parse(LINE);
        assertThat(asked).as("lookups in a storm").isEqualTo(1);
        time.advance(Duration.ofMinutes(1));
        assertThat(parser.parse(LINE)).contains(as(550));
        driver = running("580.10");
        time.advance(Duration.ofMinutes(1));
        assertThat(parser.parse(LINE)).contains(as(580));
        assertThat(as(550)).isNotEqualTo(as(580));
    }

    @Test
    void unknownVersionYieldsTheStandardParser() {
        assertThat(DriverBranch.parser(running("dev"))).isSameAs(KernelLogParser.standard());
    }
}
