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
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiPredicate;

/**
 * A comparison of driver and GPUs with the user's {@code --expect} settings. Only too few GPUs are a fault. After a
 * roll-out, the other settings are out of date on every node at the same time.
 */
@AutoService(HealthCheck.class)
public final class InventoryCheck implements HealthCheck {

    private static final Subject COUNT = Subject.of(new Entity("NODE", "gpu-count"));
    private static final Subject DRIVER = Subject.of(new Entity("NODE", "driver"));

    @Override
    public CheckInfo info() {
        return CheckInfo.of("inventory", "NODE", "Driver, GPU count, product and firmware are as expected.")
                .every(Duration.ofMinutes(1))
                .damped(2, 2);
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return evaluate(context.expectations(), context.node());
    }

    static List<Finding> evaluate(Expectations expected, NodeSnapshot node) {
        List<Finding> findings = new ArrayList<>();
        expected.gpus().ifPresent(count -> findings.add(count(count, node)));
        if (!expected.drivers().isEmpty()) {
            findings.add(driver(expected.drivers(), node));
        }
        for (GpuSnapshot gpu : node.gpus()) {
            gpu(expected, gpu).ifPresent(findings::add);
        }
        return findings.isEmpty()
                ? List.of(Finding.skipped(
                        "inventory-not-pinned", Subject.NODE, "nothing is expected; set --expect.gpus and others"))
                : findings;
    }

    private static Finding count(int expected, NodeSnapshot node) {
        boolean listed = node.driver() instanceof DriverState.Running;
        if (node.driver() instanceof DriverState.Opening) {
            return Finding.unknown("driver-opening", COUNT, "the driver is still being opened", "wait");
        }
        Reading<Integer> found = listed
                ? Reading.of((int) node.gpus().stream()
                        .filter(gpu -> gpu.state() != GpuState.GONE)
                        .count())
                : node.pciGpus().map(List::size);
        if (found instanceof Reading.Absent<Integer> absent) {
            return Finding.unknown(
                    "gpu-count-unknown",
                    COUNT,
                    "expected " + expected + " GPUs; neither driver nor PCI bus report how many there are: "
                            + absent.text(),
                    "set --path.sysfs to the node's /sys");
        }
        int seen = found.asOptional().orElse(0);
        Measurement measured = new Measurement("gpus", seen, expected + " (--expect.gpus)");
        String text = "expected " + expected + " GPUs, " + (listed ? "the driver lists " : "the PCI bus shows ") + seen;
        if (seen < expected) {
            return Finding.fail(
                            "gpu-count-low",
                            COUNT,
                            text + missing(node),
                            "search the kernel log for the missing GPU; reboot",
                            RecommendedAction.RESTART_BM)
                    .with(measured);
        }
        if (seen > expected) {
            return Finding.warn("gpu-count-high", COUNT, text, "correct --expect.gpus")
                    .with(measured);
        }
        long unreadable = node.gpus().stream()
                .filter(gpu -> gpu.state() == GpuState.UNREADABLE)
                .count();
        if (listed && unreadable > 0) {
            return Finding.unknown(
                            "gpu-count-unknown",
                            COUNT,
                            text + ", and every call fails about " + unreadable + " of them",
                            "see the check gpu-state")
                    .with(measured);
        }
        return listed
                ? Finding.pass("gpu-count", COUNT, text).with(measured)
                : Finding.unknown(
                                "gpu-count-unknown",
                                COUNT,
                                text + ", and the driver lists none",
                                "see the check driver")
                        .with(measured);
    }

    private static String missing(NodeSnapshot node) {
        List<String> onBus = new ArrayList<>(node.pciGpus().asOptional().orElse(List.of()).stream()
                .map(PciAddress::toString)
                .toList());
        for (GpuSnapshot gpu : node.gpus()) {
            gpu.identity().pci().asOptional().map(PciAddress::toString).ifPresent(onBus::remove);
        }
        return onBus.isEmpty() || node.gpus().isEmpty() ? "" : "; not listed: " + String.join(", ", onBus);
    }

    private static Finding driver(List<String> expected, NodeSnapshot node) {
        Optional<DriverInfo> info = node.driver() instanceof DriverState.Running running
                ? Optional.of(running.info())
                : node.driver() instanceof DriverState.Silent silent ? Optional.of(silent.info()) : Optional.empty();
        Reading<String> version =
                info.map(DriverInfo::driverVersion).orElse(Reading.absent(Absence.NO_DATA, 0, "no driver runs"));
        if (version instanceof Reading.Absent<String> absent) {
            return Finding.unknown(
                    "driver-version-unknown",
                    DRIVER,
                    "expected driver " + either(expected) + ", but its version is unknown: " + absent.text(),
                    "see the check driver");
        }
        String seen = version.asOptional().orElse("");
        return expected.stream().anyMatch(pin -> isOf(seen, pin))
                ? Finding.pass("driver-version", DRIVER, "the driver is " + seen)
                : Finding.warn(
                        "driver-version-other",
                        DRIVER,
                        "expected driver " + either(expected) + ", found " + seen,
                        "install the expected driver, or correct --expect.driver");
    }

    /**
     * Returns whether the version has the expected beginning: "550" matches the branch, "550.163" also 550.163.01, and
     * never 5501.2.
     */
    static boolean isOf(String version, String pin) {
        return version.equals(pin) || version.startsWith(pin.endsWith(".") ? pin : pin + ".");
    }

    private static Optional<Finding> gpu(Expectations expected, GpuSnapshot gpu) {
        GpuIdentity identity = gpu.identity();
        List<String> wrong = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        int pins = compare("product", expected.products(), identity.name(), String::contains, wrong, unknown)
                + compare("VBIOS", expected.vbios(), identity.vbios(), String::startsWith, wrong, unknown)
                + compare("board part", expected.boardParts(), identity.boardPart(), String::equals, wrong, unknown);
        Subject subject = Subject.of(identity);
        if (pins == 0) {
            return Optional.empty();
        }
        if (!wrong.isEmpty()) {
            return Optional.of(Finding.warn(
                    "gpu-other",
                    subject,
                    identity.label() + ": " + String.join("; ", wrong),
                    "a board was replaced or its firmware changed; correct that, or the --expect settings"));
        }
        return Optional.of(
                unknown.isEmpty()
                        ? Finding.pass("gpu-as-pinned", subject, identity.label() + " is as expected")
                        : Finding.unknown(
                                "gpu-identity-unknown",
                                subject,
                                identity.label() + ": " + String.join("; ", unknown),
                                ""));
    }

    /** Compares one property and returns the number of settings for it, 0 or 1. */
    private static int compare(
            String what,
            List<String> pins,
            Reading<String> seen,
            BiPredicate<String, String> holds,
            List<String> wrong,
            List<String> unknown) {
        if (pins.isEmpty()) {
            return 0;
        }
        if (seen instanceof Reading.Absent<String> absent) {
            unknown.add("its " + what + " is unknown: " + absent.text());
        } else {
            String text = seen.asOptional().orElse("");
            if (pins.stream().noneMatch(pin -> holds.test(upper(text), upper(pin)))) {
                wrong.add("expected " + what + " " + either(pins) + ", found " + text);
            }
        }
        return 1;
    }

    private static String upper(String text) {
        return text.toUpperCase(Locale.ROOT);
    }

    private static String either(List<String> pins) {
        return String.join(" or ", pins);
    }
}
