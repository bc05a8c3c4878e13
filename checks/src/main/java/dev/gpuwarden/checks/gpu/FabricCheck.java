package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.checks.LastingState;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Registration of GPUs with the NVLink fabric, and the health that the fabric reports for them (nvml.h 13.3,
 * nvmlGpuFabricInfo_v3_t). CUDA returns 802, system not ready, on a GPU that is not registered.
 *
 * <p>Registration under way is UNKNOWN at first, since Fabric Manager may be starting. Then it depends on the others of the baseboard.
 * If none is registered and no partition manager is there, no CUDA program can start: FAIL. CONTACT_SUPPORT, since a reboot does not
 * install or enable Fabric Manager, and all nodes of a wrong image would reboot. If a partition manager cannot be excluded, the
 * FAIL requests no action. A partition manager (FABRIC_MODE 1 or 2) registers GPUs when it gives them to a guest: WARN, as for one GPU of a
 * baseboard that is passed through alone. A failed registration and a fabric that reports itself unhealthy are FAIL (gpud; DCGM 112).
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

    /** Keeps in the check's notes, by GPU, for how long its registration was seen under way. */
    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong state = builder.read(GpuMetric.FABRIC_STATE);
        if (state.isPresent()) {
            CheckContext context = builder.context();
            String label = builder.gpu().identity().label();
            if (state.getAsLong() == NOT_APPLICABLE) {
                builder.skip("no-fabric", "it belongs to no fabric");
            } else if (state.getAsLong() == COMPLETED) {
                LastingState.over(context.notes(), label);
                completed(builder);
            } else {
                Duration lasts = LastingState.seen(context.notes(), label, context.now(), info().every());
                registering(builder, state.getAsLong(), lasts.toSeconds());
            }
        }
    }

    private static void registering(FindingBuilder builder, long state, long seconds) {
        String what = "registration with the fabric " + (state == 1 ? "has not begun" : "is under way");
        Optional<Limit> limit = builder.limit("fabric_registration_seconds");
        Optional<String> young = builder.context().young();
        if (limit.isEmpty() || seconds < limit.get().value() || young.isPresent()) {
            builder.unknown(
                    "fabric-registering",
                    what + young.map(why -> "; " + why).orElse(""),
                    "wait; nvidia-fabricmanager must run");
            return;
        }
        String text = "expected it to be registered within " + LimitText.brief(limit.get()) + " seconds, but " + what
                + " for " + seconds;
        String remedy = "check that nvidia-fabricmanager runs, and read its log";
        Measurement measured = LimitText.atMost("fabric_registration_seconds", seconds, limit.get());
        PartitionManager manager =
                noneRegistered(builder) ? PartitionManager.of(builder.context().procfs()) : PartitionManager.PRESENT;
        if (manager == PartitionManager.PRESENT) {
            builder.warn("fabric-not-registered", text, remedy, measured);
        } else {
            builder.fail(
                    "fabric-not-registered",
                    text + "; no GPU of this node is registered, so no CUDA program can start",
                    remedy,
                    manager == PartitionManager.NONE ? RecommendedAction.CONTACT_SUPPORT : RecommendedAction.NONE,
                    measured);
        }
    }

    /** Returns whether the node has several GPUs of a baseboard with switches, and the fabric has none of them. */
    private static boolean noneRegistered(FindingBuilder builder) {
        List<Long> states = builder.context().node().gpus().stream()
                .filter(gpu -> gpu.frame().present(GpuMetric.FABRIC_STATE))
                .map(gpu -> gpu.frame().raw(GpuMetric.FABRIC_STATE))
                .filter(state -> state != NOT_APPLICABLE)
                .toList();
        boolean switches = builder.limit("nvlink_links_count")
                .filter(links -> links.value() > 0)
                .isPresent();
        return switches && states.size() > 1 && !states.contains(COMPLETED);
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
