package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Checks that a vGPU guest has a licence, without which its performance falls in steps (NVIDIA, Virtual GPU Client Licensing User
 * Guide, "Enforcement"; nvml.h, nvmlDeviceGetGridLicensableFeatures). The expiry does not count: a licence server lends for about a day,
 * the guest renews in time, and the licence is gone as soon as it expires.
 */
@AutoService(HealthCheck.class)
public final class VgpuLicenseCheck extends GpuCheck {

    /** NVML_GPU_VIRTUALIZATION_MODE_VGPU. */
    private static final long GUEST = 2;

    @Override
    public CheckInfo info() {
        return CheckInfo.of("vgpu-license", "GPU", "Each virtual GPU of this guest has a licence.");
    }

    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong mode = builder.read(GpuMetric.VIRTUALIZATION_MODE);
        if (mode.isEmpty()) {
            return;
        }
        if (mode.getAsLong() != GUEST) {
            builder.skip("no-vgpu-guest", "it is no virtual GPU of a guest");
            return;
        }
        OptionalLong licensable = builder.read(GpuMetric.VGPU_LICENSABLE_FEATURES);
        OptionalLong licensed = builder.read(GpuMetric.VGPU_LICENSED_FEATURES);
        if (licensable.isPresent() && licensed.isPresent()) {
            judge(builder, licensable.getAsLong(), licensed.getAsLong());
        }
    }

    private static void judge(FindingBuilder builder, long licensable, long licensed) {
        String what = "the virtual GPU has no licence";
        String remedy = "check that nvidia-gridd runs, its log, its token and the way to the licence server";
        Optional<String> young = builder.context().young();
        if (licensed > 0) {
            builder.pass("vgpu-licensed", "the virtual GPU has a licence");
        } else if (young.isPresent()) {
            builder.unknown("vgpu-license-awaited", what + " yet; " + young.get(), "wait; " + remedy);
        } else if (licensable == 0) {
            builder.skip("no-licensable-feature", "the driver lists no feature that can have a licence", remedy);
        } else {
            builder.warn(
                    "vgpu-unlicensed",
                    "expected a licence, but " + what + ": the driver reduces its performance",
                    remedy,
                    new Measurement("vgpu_licensed_features", licensed, "at least 1"));
        }
    }
}
