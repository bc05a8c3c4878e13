package dev.gpuwarden.checks.host;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Reading;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * One port of an RDMA device, as /sys/class/infiniband shows it.
 *
 * @param key identity of the port, which does not change when its device is renamed while a node boots
 * @param name name of the device, with the port's number if it has several: "mlx5_0", "mlx5_0:2"
 * @param kind ports of one kind are used alike: same board, same function of it, same port; empty for software devices
 * @param state number of the logical state (ib_verbs.h, ib_port_state); for EFA that of its network interface
 * @param physical number of the physical state (ib_verbs.h, ib_port_phys_state)
 * @param linkLayer "InfiniBand" or "Ethernet"
 * @param switchedOff whether an administrator disabled the port
 * @param folder folder of its files
 * @param interfaceFolder folder of the network interface that carries it; empty if there is none
 */
record RdmaPort(
        String key,
        String name,
        String kind,
        Reading<Long> state,
        Reading<Long> physical,
        Reading<Double> rateGbps,
        String linkLayer,
        boolean switchedOff,
        Path folder,
        Optional<Path> interfaceFolder) {

    private static final List<String> STATES = List.of("NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER");
    private static final List<String> PHYSICAL = List.of(
            "?",
            "Sleep",
            "Polling",
            "Disabled",
            "PortConfigurationTraining",
            "LinkUp",
            "LinkErrorRecovery",
            "Phy Test");
    private static final int INIT = 2;
    private static final int ACTIVE = 4;
    private static final int LINK_UP = 5;

    Subject subject() {
        return new Subject(name, List.of(new Entity("NIC", name)));
    }

    boolean active() {
        return state.asOptional().orElse(0L) >= ACTIVE;
    }

    /** Returns whether the cable carries a link and the port has no address, which the subnet manager assigns. */
    boolean unmanaged() {
        return state.asOptional().orElse(0L) == INIT && physical.asOptional().orElse(0L) == LINK_UP;
    }

    /** Returns both states in the kernel's words. */
    String stateText() {
        return word(STATES, state) + ", " + word(PHYSICAL, physical);
    }

    private static String word(List<String> words, Reading<Long> number) {
        if (number instanceof Reading.Absent<Long> absent) {
            return absent.text();
        }
        int n = Math.toIntExact(Math.min(number.asOptional().orElse(0L), Integer.MAX_VALUE));
        return n >= 0 && n < words.size() ? words.get(n) : Integer.toString(n);
    }
}
