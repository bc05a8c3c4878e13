package dev.gpuwarden.daemon.check.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Registration of GPUs with the NVLink fabric, and the health that the fabric reports for them (nvml.h 13.3,
 * nvmlGpuFabricInfo_v3_t). CUDA returns 802, system not ready, on a GPU that is not registered.
 *
 * <p>Registration under way is UNKNOWN, then WARN: Fabric Manager may be starting, or may not be needed where one GPU
 * of a baseboard is passed through. A failed registration and a fabric that reports itself unhealthy are FAIL (gpud;
 * DCGM 112).
 */
@AutoService(HealthCheck.class)
public final class FabricCheck extends GpuCheck {

    private static final long NOT_APPLICABLE = 0;
    private static final long COMPLETED = 3;
    private static final long UNHEALTHY = 2;
    private static final long LIMITED = 3;

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-fabric", "GPU", "Each GPU of an NVLink fabric is registered with it and healthy.")
                .damped(2, 2);
    }

    /**
     * Keeps in the check's notes, by GPU, the time in milliseconds since 1970 at which its registration was first seen
     * under way.
     */
    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong state = builder.read(GpuMetric.FABRIC_STATE);
        if (state.isPresent()) {
            String label = builder.gpu().identity().label();
            Map<String, Long> notes = builder.context().notes();
            if (state.getAsLong() == NOT_APPLICABLE) {
                builder.skip("no-fabric", "it belongs to no fabric");
            } else if (state.getAsLong() == COMPLETED) {
                notes.remove(label);
                completed(builder);
            } else {
                long now = builder.context().now().toEpochMilli();
                Long since = notes.computeIfAbsent(label, gpuLabel -> now);
                registering(builder, state.getAsLong(), (now - since) / 1000);
            }
        }
    }

    private static void registering(FindingBuilder builder, long state, long seconds) {
        String what = "registration with the fabric " + (state == 1 ? "has not begun" : "is under way");
        Optional<Limit> limit = builder.limit("fabric_registration_seconds");
        if (limit.isPresent() && seconds >= limit.get().value()) {
            builder.warn(
                    "fabric-not-registered",
                    "expected it to be registered within " + LimitText.brief(limit.get()) + " seconds, but " + what
                            + " for " + seconds,
                    "check that nvidia-fabricmanager runs, and read its log",
                    LimitText.atMost("fabric_registration_seconds", seconds, limit.get()));
        } else {
            builder.unknown("fabric-registering", what, "wait; nvidia-fabricmanager must run");
        }
    }

    private static void completed(FindingBuilder builder) {
        OptionalLong status = builder.read(GpuMetric.FABRIC_STATUS);
        if (status.isEmpty()) {
            return;
        }
        if (status.getAsLong() != 0) {
            builder.fail(
                    "fabric-failed",
                    "expected registration with the fabric to succeed, but it ended with code " + status.getAsLong(),
                    "read the log of nvidia-fabricmanager; reset the GPUs of this node",
                    RecommendedAction.COMPONENT_RESET,
                    new Measurement("fabric_status", status.getAsLong(), "0"));
            return;
        }
        OptionalLong summary = builder.optional(GpuMetric.FABRIC_HEALTH_SUMMARY, 0);
        OptionalLong mask = builder.optional(GpuMetric.FABRIC_HEALTH_MASK, 0);
        if (summary.isEmpty() || mask.isEmpty()) {
            return;
        }
        Reported reported = new Reported(summary.getAsLong(), mask.getAsLong());
        if (reported.bad()) {
            builder.fail(
                    "fabric-unhealthy",
                    "expected a healthy fabric, but it reports " + reported.words(),
                    "read the log of nvidia-fabricmanager; reset the GPUs of this node",
                    RecommendedAction.COMPONENT_RESET,
                    reported.evidence());
        } else if (reported.limited()) {
            builder.warn(
                    "fabric-limited",
                    "expected a healthy fabric, but it reports " + reported.words(),
                    "read the log of nvidia-fabricmanager",
                    reported.evidence());
        } else {
            builder.pass("fabric-healthy", "registered with the fabric");
        }
    }

    /**
     * The health that the fabric reports for the GPU.
     *
     * @param summary 0 where the driver has none (before 580)
     * @param mask fields of two bits, 1 being true, and from bit 8 on four bits of configuration, above 1 being wrong
     *     (nvml.h 13.3, NVML_GPU_FABRIC_HEALTH_MASK_*)
     */
    private record Reported(long summary, long mask) {

        private static final String[] FLAGS = {
            "degraded bandwidth", "route recovery", "an unhealthy route", "access timeout recovery"
        };
        private static final int ROUTE_UNHEALTHY = 2;

        private boolean flag(int field) {
            return (mask >>> 2 * field & 0x3) == 1;
        }

        private long configuration() {
            return mask >>> 8 & 0xf;
        }

        boolean bad() {
            return summary == UNHEALTHY || summary == 0 && (flag(ROUTE_UNHEALTHY) || configuration() > 1);
        }

        boolean limited() {
            return summary == LIMITED || summary == 0 && !words().isEmpty();
        }

        String words() {
            List<String> words = new ArrayList<>();
            for (int field = 0; field < FLAGS.length; field++) {
                if (flag(field)) {
                    words.add(FLAGS[field]);
                }
            }
            if (configuration() > 1) {
                words.add("an incorrect configuration (" + configuration() + ")");
            }
            if (words.isEmpty() && summary != 0) {
                words.add(summary == UNHEALTHY ? "that it is unhealthy" : "that its capacity is limited");
            }
            return String.join(", ", words);
        }

        Measurement[] evidence() {
            return new Measurement[] {
                new Measurement("fabric_health", summary, "1"), new Measurement("fabric_health_mask", mask, "")
            };
        }
    }
}
