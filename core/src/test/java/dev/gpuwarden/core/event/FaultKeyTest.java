package dev.gpuwarden.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FaultKeyTest {

    private static final FaultKey KEY = new FaultKey("agent", "GPU", "check", "node", Entity.gpu("GPU-1"), "79");

    @Test
    void keysThatDifferInOneFieldHaveAnOrder() {
        List<FaultKey> others = List.of(
                new FaultKey("agent2", "GPU", "check", "node", Entity.gpu("GPU-1"), "79"),
                new FaultKey("agent", "NIC", "check", "node", Entity.gpu("GPU-1"), "79"),
                new FaultKey("agent", "GPU", "check2", "node", Entity.gpu("GPU-1"), "79"),
                new FaultKey("agent", "GPU", "check", "node2", Entity.gpu("GPU-1"), "79"),
                new FaultKey("agent", "GPU", "check", "node", Entity.gpu("GPU-2"), "79"),
                new FaultKey("agent", "GPU", "check", "node", new Entity("PCI", "GPU-1"), "79"),
                new FaultKey("agent", "GPU", "check", "node", Entity.gpu("GPU-1"), "95"));

        assertThat(others).allSatisfy(other -> {
            assertThat(FaultKey.ORDER.compare(KEY, other)).isNegative();
            assertThat(FaultKey.ORDER.compare(other, KEY)).isPositive();
        });
        assertThat(FaultKey.ORDER.compare(KEY, KEY)).isZero();
    }
}
