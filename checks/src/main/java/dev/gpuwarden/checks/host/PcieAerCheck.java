package dev.gpuwarden.checks.host;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * PCIe errors (AER) of GPUs, NVSwitches, network devices and the ports above them. Devices without counters are
 * skipped: virtual machines, and firmware that keeps AER to itself, show no such files.
 */
@AutoService(HealthCheck.class)
public final class PcieAerCheck implements HealthCheck {

    static final Duration WINDOW = Duration.ofMinutes(15);
    /** A link that failed and recovered is watched for this long before it counts as healthy. */
    static final Duration HELD = Duration.ofHours(1);

    @Override
    public CheckInfo info() {
        return CheckInfo.of(
                        "pcie-aer", "NODE", "GPUs, network devices and the PCIe ports above them report no bus errors.")
                .every(Duration.ofMinutes(1));
    }

    @Override
    public List<Finding> run(CheckContext context) {
        List<Finding> findings = new ArrayList<>();
        for (PcieDevice device : PcieDevice.watched(context.sysfs(), context.node())) {
            evaluate(device, context).ifPresent(findings::add);
        }
        return findings;
    }

    private static Optional<Finding> evaluate(PcieDevice device, CheckContext context) {
        Reading<Long> fatal = device.total("aer_dev_fatal");
        Reading<Long> nonFatal = device.total("aer_dev_nonfatal");
        Reading<Long> correctable = device.total("aer_dev_correctable");
        if (fatal.asOptional().isEmpty()
                && nonFatal.asOptional().isEmpty()
                && correctable.asOptional().isEmpty()) {
            return Optional.empty();
        }
        Map<String, Long> notes = context.notes();
        Instant now = context.now();
        String key = device.address().toString();
        boolean first = !notes.containsKey("since " + key);
        Instant since = Instant.ofEpochMilli(notes.computeIfAbsent("since " + key, any -> now.toEpochMilli()));
        boolean fatalLately = rose(notes, "fatal " + key, fatal, now);
        boolean nonFatalLately = rose(notes, "nonfatal " + key, nonFatal, now);
        CounterIncrease increase = correctable instanceof Reading.Present<Long> present
                ? CounterIncrease.of(context, "correctable " + key, present.value(), WINDOW)
                : new CounterIncrease(0, true);
        Optional<Limit> limit = context.limits().of("pcie_correctable_errors_per_minute");
        double rate = increase.perMinute(WINDOW);
        if (fatalLately) {
            return Optional.of(Finding.fail(
                            "pcie-fatal",
                            device.subject(),
                            device.text() + " reported a fatal PCIe error within the last hour: "
                                    + device.names("aer_dev_fatal"),
                            "search for " + key + " in the kernel log; reseat or replace the device if it returns",
                            RecommendedAction.RESTART_BM)
                    .with(measured("fatal_errors", fatal)));
        }
        if (nonFatalLately) {
            return Optional.of(Finding.warn(
                            "pcie-nonfatal",
                            device.subject(),
                            device.text() + " reported a non-fatal PCIe error within the last hour: "
                                    + device.names("aer_dev_nonfatal"),
                            "search for " + key + " in the kernel log")
                    .with(measured("nonfatal_errors", nonFatal)));
        }
        if (limit.isPresent() && rate > limit.get().value()) {
            return Optional.of(correctable(device, rate, limit.get()));
        }
        if (!increase.known()) {
            return Optional.of(Finding.skipped(
                    "needs-time",
                    device.subject(),
                    device.text() + ": the rate of its correctable errors is known after " + WINDOW.toMinutes()
                            + " minutes"));
        }
        boolean countsSinceBoot = fatal.asOptional().orElse(0L) > 0;
        if (countsSinceBoot && (first || now.isBefore(since.plus(HELD)))) {
            // The time of that error is unknown. It clears no fault until the device was quiet for as long as a fault
            // is held.
            return Optional.of(Finding.skipped(
                    "pcie-errors-before",
                    device.subject(),
                    device.text() + " counts fatal errors from before monitoring began: "
                            + device.names("aer_dev_fatal")));
        }
        return Optional.of(
                Finding.pass("pcie-errors", device.subject(), device.text() + " reports no new PCIe errors"));
    }

    private static Finding correctable(PcieDevice device, double rate, Limit limit) {
        return Finding.warn(
                        "pcie-correctable",
                        device.subject(),
                        device.text() + " reports " + HostLimit.number(rate)
                                + " correctable PCIe errors a minute, expected at most " + HostLimit.brief(limit) + ": "
                                + device.names("aer_dev_correctable"),
                        "reseat the device, its riser or cable")
                .with(new Measurement("pcie_correctable_errors_per_minute", rate, HostLimit.full("at most", limit)));
    }

    private static boolean rose(Map<String, Long> notes, String key, Reading<Long> total, Instant now) {
        return total instanceof Reading.Present<Long> present
                && RecentIncreases.note(notes, key, present.value(), now, HELD, 1) > 0;
    }

    private static Measurement measured(String name, Reading<Long> total) {
        return new Measurement(name, total.asOptional().orElse(0L), "");
    }
}
