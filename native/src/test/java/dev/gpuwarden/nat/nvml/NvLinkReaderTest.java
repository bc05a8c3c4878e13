package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.NvLinkPeer;
import dev.gpuwarden.core.model.NvLinkPeer.Type;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Absent;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NvLinkReaderTest {

    /** sim_table.h, SIM_NA. */
    private static final long NO_LINK = Long.MIN_VALUE;

    @TempDir
    Path folder;

    private static Reading<List<NvLinkPeer>> links(SimNode node) {
        try (Driver driver = node.open(SamplerPath.AUTO)) {
            return driver.identify(0).nvlinks();
        }
    }

    private SimNode volta(String driver) {
        SimNode node = SimNode.of(driver, folder).set("gpu[0].cuda_major", 7).set("gpu[0].cuda_minor", 0);
        for (int link = 0; link < LinkMetric.MAX_LINKS; link++) {
            node.set("gpu[0].link[" + link + "].state", NO_LINK);
        }
        return node;
    }

    private static SimNode link(SimNode node, int link, int state, int type, int bus) {
        String name = "gpu[0].link[" + link + "].";
        return node.set(name + "state", state)
                .set(name + "remote_type", type)
                .set(name + "remote_domain", 0)
                .set(name + "remote_bus", bus)
                .set(name + "remote_device", 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"470", "550", "615"})
    void theOtherEndsAreReadWhereTheyDecideAboutAReset(String driver) {
        SimNode node = link(link(link(volta(driver), 0, 1, 0, 0x2b), 2, 0, 2, 0xc4), 5, 1, 255, 0x30);
        assertThat(links(node))
                .as("a link that is down still joins its ends")
                .isEqualTo(Reading.of(List.of(
                        new NvLinkPeer(Type.GPU, new PciAddress(0, 0x2b, 0, 0)),
                        new NvLinkPeer(Type.SWITCH, new PciAddress(0, 0xc4, 0, 0)),
                        new NvLinkPeer(Type.UNKNOWN, new PciAddress(0, 0x30, 0, 0)))));
    }

    @Test
    void aGpuWithoutLinksHasNone() {
        assertThat(links(volta("550"))).isEqualTo(Reading.of(List.of()));
    }

    @Test
    void aLinkThatIsUpAndCannotBeReadHidesThemAll() {
        SimNode node = link(volta("550"), 0, 1, 0, 0x2b).set("gpu[0].link[1].state", 1);
        assertThat(links(node))
                .isEqualTo(Reading.absent(Absence.NOT_SUPPORTED, 3, "nvmlDeviceGetNvLinkRemotePciInfo_v2"));
        assertThat(links(node.set("gpu[0].link[1].state", 0)).asOptional().orElseThrow())
                .as("one that is down may end nowhere")
                .hasSize(1);
        assertThat(links(link(node, 1, 0, 255, 0)).asOptional().orElseThrow())
                .as("also with an address")
                .hasSize(1);
    }

    @Test
    void theLinksOfALaterGpuAreNotRead() {
        assertThat(links(SimNode.of("550", folder)))
                .isInstanceOfSatisfying(
                        Absent.class, absent -> assertThat(absent.text()).contains("the GPU is reset alone"));
    }
}
