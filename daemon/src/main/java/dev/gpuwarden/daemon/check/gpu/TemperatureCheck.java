package dev.gpuwarden.daemon.check.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
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
public final class TemperatureCheck implements HealthCheck {

    private static final String REMEDY = "check air flow, fans, and the GPUs beside it";

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-temperature", "GPU", "GPU and memory have temperatures of normal operation.")
                .damped(3, 4);
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return EachGpu.answering(context.node(), gpu -> evaluate(gpu, context.limits()));
    }

    static Finding evaluate(GpuSnapshot gpu, Limits limits) {
        FindingBuilder builder = new FindingBuilder(gpu);
        core(builder, gpu, limits);
        memory(builder, gpu.frame());
        return builder.finding();
    }

    private static void core(FindingBuilder builder, GpuSnapshot gpu, Limits limits) {
        OptionalLong now = builder.read(GpuMetric.TEMPERATURE);
        Optional<Limits.Limit> margin = limits.of("temperature_margin_celsius", gpu.identity());
        if (now.isEmpty() || margin.isEmpty()) {
            return;
        }
        Optional<Long> left = left(builder, gpu, now.getAsLong(), limits);
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
    private static Optional<Long> left(FindingBuilder builder, GpuSnapshot gpu, long now, Limits limits) {
        GpuFrame frame = gpu.frame();
        if (frame.present(GpuMetric.TEMPERATURE_MARGIN)) {
            long margin = frame.raw(GpuMetric.TEMPERATURE_MARGIN);
            Optional<Limits.Limit> credible = limits.of("temperature_margin_credible_celsius", gpu.identity());
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
        return limits.of("temperature_max_operating_celsius", gpu.identity()).map(limit -> (long) limit.value() - now);
    }

    /** Evaluates the memory's temperature of boards that report it and its limit. */
    private static void memory(FindingBuilder builder, GpuFrame frame) {
        if (!frame.present(GpuMetric.MEMORY_TEMPERATURE)
                || !frame.present(GpuMetric.TEMPERATURE_MEMORY_MAX)
                || frame.raw(GpuMetric.TEMPERATURE_MEMORY_MAX) == 0) {
            return;
        }
        long now = frame.raw(GpuMetric.MEMORY_TEMPERATURE);
        long most = frame.raw(GpuMetric.TEMPERATURE_MEMORY_MAX);
        if (now > most) {
            builder.warn(
                    "memory-temperature-high",
                    "expected memory at " + most + " °C at most, but it is at " + now + " °C",
                    REMEDY,
                    new Measurement("memory_temperature_celsius", now, "at most " + most + " (the board)"));
        }
    }
}
