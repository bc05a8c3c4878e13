package dev.gpuwarden.checks.host;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Checks that the ports of RDMA devices (InfiniBand, RoCE, EFA) are up, stay up, and run at the expected rate. */
@AutoService(HealthCheck.class)
public final class NicLinkCheck implements HealthCheck {

    /** The subject of the number of ports: the user expects a number, not certain ports. */
    private static final Subject ALL_PORTS = Subject.of(new Entity("NODE", "nic-ports"));

    /**
     * Three runs confirm. A port that is down for less than 25 s is no fault yet (gpud, flap). A device is gone when
     * three enumerations missed it (NVSentinel).
     */
    @Override
    public CheckInfo info() {
        return CheckInfo.of(
                        "nic-link", "NIC", "Ports of InfiniBand, RoCE and EFA devices are up and as fast as expected.")
                .damped(3, 2);
    }

    @Override
    public List<Finding> run(CheckContext context) {
        Expectations expected = context.expectations();
        Reading<List<RdmaDevice>> read = RdmaDevice.list(context.sysfs(), expected.untouchedNics());
        if (read instanceof Reading.Absent<List<RdmaDevice>> absent) {
            return List.of(Finding.unknown(
                    "nic-unreadable",
                    ALL_PORTS,
                    "RDMA devices cannot be listed: " + absent.text(),
                    "set --path.sysfs to the node's /sys"));
        }
        List<RdmaDevice> devices = read.asOptional().orElse(List.of());
        Optional<String> training = context.young();
        List<RdmaPort> ports =
                devices.stream().flatMap(device -> device.ports().stream()).toList();
        PortLink link = new PortLink(context, info().every());
        List<Finding> findings = new ArrayList<>();
        expected.nicPorts().ifPresent(n -> findings.add(pinned(ports, n, expected.nicRateGbps(), training)));
        ports.forEach(port -> findings.add(link.evaluate(port, ports)));
        findings.addAll(MissingNics.find(devices, context.notes(), context.sysfs()));
        return findings;
    }

    static Finding pinned(List<RdmaPort> ports, int expected, OptionalInt rateGbps, Optional<String> training) {
        List<String> lacking = new ArrayList<>();
        int enough = 0;
        for (RdmaPort port : ports) {
            double rate = port.rateGbps().asOptional().orElse(0.0);
            if (!port.active()) {
                lacking.add(port.name() + " is " + (port.switchedOff() ? "switched off" : port.stateText()));
            } else if (rateGbps.isPresent() && rate < rateGbps.getAsInt()) {
                lacking.add(port.name() + " runs at " + HostLimit.number(rate) + " Gb/s");
            } else {
                enough++;
            }
        }
        String atRate = rateGbps.isPresent() ? " at " + rateGbps.getAsInt() + " Gb/s or more" : "";
        Measurement measured =
                new Measurement("active_ports", enough, "at least " + expected + " (--expect.nic-ports)");
        String seen = "expected " + expected + " active network ports" + atRate + ", found " + enough
                + (lacking.isEmpty() ? "" : ": " + String.join("; ", lacking));
        if (enough >= expected) {
            return Finding.pass("nic-ports", ALL_PORTS, enough + " network ports are active" + atRate)
                    .with(measured);
        }
        return training.isPresent()
                ? Finding.unknown("nic-port-training", ALL_PORTS, seen + "; " + training.get(), "wait")
                        .with(measured)
                : Finding.fail(
                                "nic-ports-missing",
                                ALL_PORTS,
                                seen,
                                "inspect the named ports",
                                RecommendedAction.CONTACT_SUPPORT)
                        .with(measured);
    }
}
