package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A comparison of temperatures with the board's own range of normal operation. Ada and Hopper report the degrees that
 * are left (nvmlDeviceGetMarginTemperature: 0 at the highest temperature of normal operation, hardware slows down at
 * -2). Older boards report limits; for the rest there is the table.
 *
 * <p>WARN at most: gpud calls it degraded and DCGM a matter to monitor (42), since the room is the usual cause;
 * NVSentinel alone takes such a GPU out of service.
 */
@AutoService(HealthCheck.class)
public final class TemperatureCheck extends GpuCheck {

    private static final String REMEDY = "check air flow, fans, and the GPUs beside it";

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-temperature", "GPU", "GPU and memory have temperatures of normal operation.")
                .damped(3, 4);
    }

    @Override
    void evaluate(FindingBuilder builder) {
        core(builder);
        memory(builder);
    }

    private static void core(FindingBuilder builder) {
        OptionalLong now = builder.read(GpuMetric.TEMPERATURE);
        Optional<Limit> margin = builder.limit("temperature_margin_celsius");
        if (now.isEmpty() || margin.isEmpty()) {
            return;
        }
        Optional<Long> left = left(builder, now.getAsLong());
        if (left.isEmpty()) {
            builder.skip("not-supported", "the board reports no temperature limit");
        } else if (left.get() < margin.get().value()) {
            builder.warn(
                    "temperature-high",
                    "expected at least " + LimitText.brief(margin.get())
                            + " degrees to the end of normal operation, but there are " + left.get() + " at "
                            + now.getAsLong() + " °C",
                    REMEDY,
                    new Measurement("temperature_celsius", now.getAsLong(), ""),
                    LimitText.atLeast("temperature_margin_celsius", left.get(), margin.get()));
        } else {
            builder.pass(
                    "temperature-normal",
                    now.getAsLong() + " °C, " + left.get() + " degrees below the end of normal operation");
        }
    }

    /** Returns the degrees to the highest temperature of normal operation; negative above it. */
    private static Optional<Long> left(FindingBuilder builder, long now) {
        GpuFrame frame = builder.frame();
        if (!FindingBuilder.notOffered(frame.absence(GpuFrame.slot(GpuMetric.TEMPERATURE_MARGIN)))) {
            OptionalLong read = builder.read(GpuMetric.TEMPERATURE_MARGIN);
            if (read.isEmpty()) {
                return Optional.empty();
            }
            long margin = read.getAsLong();
            Optional<Limit> credible = builder.limit("temperature_margin_credible_celsius");
            if (margin <= 0 && credible.isPresent() && now < credible.get().value()) {
                builder.skip(
                        "margin-not-credible",
                        "a margin of " + margin + " degrees at " + now + " °C is implausible, limit "
                                + LimitText.brief(credible.get()));
                return Optional.empty();
            }
            return Optional.of(margin);
        }
        for (GpuMetric limit : List.of(GpuMetric.TEMPERATURE_MAX_OPERATING, GpuMetric.TEMPERATURE_SLOWDOWN)) {
            if (frame.present(limit) && frame.raw(limit) > 0) {
                return Optional.of(frame.raw(limit) - now);
            }
        }
        return builder.limit("temperature_max_operating_celsius").map(limit -> (long) limit.value() - now);
    }

    /** Evaluates the memory's temperature of boards that report it and its limit. */
    private static void memory(FindingBuilder builder) {
        OptionalLong limit = builder.optional(GpuMetric.TEMPERATURE_MEMORY_MAX, 0);
        OptionalLong read = builder.optional(GpuMetric.MEMORY_TEMPERATURE, Long.MIN_VALUE);
        long now = read.orElse(Long.MIN_VALUE);
        long most = limit.orElse(0);
        if (most > 0 && now > most) {
            builder.warn(
                    "memory-temperature-high",
                    "expected memory at " + most + " °C at most, but it is at " + now + " °C",
                    REMEDY,
                    new Measurement("memory_temperature_celsius", now, "at most " + most + " (the board)"));
        }
    }
}
