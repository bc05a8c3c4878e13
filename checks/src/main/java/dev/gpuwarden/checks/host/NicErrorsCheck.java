package dev.gpuwarden.checks.host;

import com.google.auto.service.AutoService;
import dev.gpuwarden.checks.node.Sysfs;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A check for ports of RDMA devices that count errors faster than a healthy link does. */
@AutoService(HealthCheck.class)
public final class NicErrorsCheck implements HealthCheck {

    /** A burst, for example after a peer died, is over within minutes. A bad cable goes on. */
    static final Duration WINDOW = Duration.ofMinutes(15);

    private record Counter(String file, String limit) {}

    /** The counters, from the kernel's Documentation/ABI/stable/sysfs-class-infiniband; hw_counters are those of mlx5. */
    private static final List<Counter> COUNTERS = List.of(
            new Counter("counters/symbol_error", "nic_symbol_errors_per_minute"),
            new Counter("counters/link_error_recovery", "nic_link_recoveries_per_minute"),
            new Counter("counters/local_link_integrity_errors", "nic_link_integrity_errors_per_minute"),
            new Counter("counters/excessive_buffer_overrun_errors", "nic_buffer_overruns_per_minute"),
            new Counter("counters/port_rcv_errors", "nic_receive_errors_per_minute"),
            new Counter("counters/port_xmit_discards", "nic_transmit_discards_per_minute"),
            new Counter("hw_counters/local_ack_timeout_err", "nic_ack_timeouts_per_minute"),
            new Counter("hw_counters/roce_slow_restart", "nic_slow_restarts_per_minute"),
            new Counter("hw_counters/packet_seq_err", "nic_out_of_sequence_per_minute"),
            new Counter("hw_counters/out_of_sequence", "nic_out_of_sequence_per_minute"));

    @Override
    public CheckInfo info() {
        return CheckInfo.of("nic-errors", "NIC", "Error counters of InfiniBand and RoCE ports stay below their limits.")
                .every(Duration.ofMinutes(1))
                .damped(2, 2);
    }

    /** Returns findings for ports with counters. The check nic-link reports devices that cannot be listed. */
    @Override
    public List<Finding> run(CheckContext context) {
        List<RdmaDevice> devices = RdmaDevice.list(
                        context.sysfs(), context.expectations().untouchedNics())
                .asOptional()
                .orElse(List.of());
        List<Finding> findings = new ArrayList<>();
        for (RdmaDevice device : devices) {
            for (RdmaPort port : device.ports()) {
                if (!port.switchedOff()) {
                    evaluate(port, context).ifPresent(findings::add);
                }
            }
        }
        return findings;
    }

    private static Optional<Finding> evaluate(RdmaPort port, CheckContext context) {
        List<Measurement> over = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        boolean counts = false;
        boolean pending = false;
        for (Counter counter : COUNTERS) {
            Reading<Long> value = Sysfs.number(port.folder().resolve(counter.file()));
            Optional<Limit> limit = context.limits().of(counter.limit());
            if (value instanceof Reading.Present<Long> present && limit.isPresent()) {
                CounterIncrease increase =
                        CounterIncrease.of(context, port.key() + "/" + counter.file(), present.value(), WINDOW);
                counts = true;
                pending |= !increase.known();
                double rate = increase.perMinute(WINDOW);
                if (rate > limit.get().value()) {
                    String name = counter.file().substring(counter.file().indexOf('/') + 1);
                    over.add(new Measurement(counter.limit(), rate, HostLimit.full("at most", limit.get())));
                    texts.add(name + " rises by " + HostLimit.number(rate) + " a minute, expected at most "
                            + HostLimit.brief(limit.get()));
                }
            }
        }
        return counts ? Optional.of(finding(port, over, texts, pending)) : Optional.empty();
    }

    private static Finding finding(RdmaPort port, List<Measurement> over, List<String> texts, boolean pending) {
        if (!over.isEmpty()) {
            return Finding.warn(
                            "nic-error-rate",
                            port.subject(),
                            port.name() + ": " + String.join("; ", texts),
                            "inspect cable, transceiver and switch port; for discards and lost packets, check for"
                                    + " congestion")
                    .with(over.toArray(Measurement[]::new));
        }
        // No evidence of health either: a fault from before a restart must not be cleared.
        return pending
                ? Finding.skipped(
                        "needs-time",
                        port.subject(),
                        port.name() + ": rates are known after " + WINDOW.toMinutes() + " minutes")
                : Finding.pass("nic-errors", port.subject(), port.name() + " counts no errors above its limits");
    }
}
