package dev.gpuwarden.nccl.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.port.AbortSignal;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveDriver.Member;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.nccl.plan.Collective;
import dev.gpuwarden.nccl.plan.Layout;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/** The buffers of a rank on a simulated GPU. */
class BuffersTest {

    /** Alignment of memory from the driver and from NCCL. */
    private static final int ALIGNMENT = 256;

    private static CollectiveDriver driver(SimulatedNode node) {
        CollectiveOptions options = new CollectiveOptions(
                List.of(node.libraryPath().getParent().toString()),
                new DriverOptions(List.of(node.libraryPath().toString()), SamplerPath.AUTO));
        CollectiveProvider provider =
                ServiceLoader.load(CollectiveProvider.class).findFirst().orElseThrow();
        return ((Opened<CollectiveDriver>) provider.open(options)).driver();
    }

    @Test
    void offsetMovesTheDataByItsElements() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            CollectiveDriver driver = driver(node);
            Member member = new Member(0, 0, 1, driver.newUniqueId(), Duration.ofSeconds(20), false, new AbortSignal());
            try (Communicator communicator = driver.join(member)) {
                Buffers buffers = new Buffers(communicator, 0, 1 << 10, 3);
                Layout bytes = Collective.ALL_REDUCE.layout(1 << 10, ElementType.INT8, 1);
                Layout doubles = Collective.ALL_REDUCE.layout(1 << 10, ElementType.DOUBLE, 1);
                assertThat(buffers.send(bytes, 0, false) % ALIGNMENT).isEqualTo(3);
                assertThat(buffers.send(bytes, 0, true)).isEqualTo(buffers.receive(bytes, 0, true));
                assertThat(buffers.receive(doubles, 0, false) % ALIGNMENT).isEqualTo(3 * Double.BYTES);
            }
        }
    }
}
