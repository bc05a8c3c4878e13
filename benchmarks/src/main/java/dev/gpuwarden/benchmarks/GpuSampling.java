package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import java.util.ArrayList;
import java.util.List;

/** A GPU's sampler with the frame that it fills. */
record GpuSampling(Driver.Sampler sampler, GpuFrame frame) implements AutoCloseable {

    /** @param gpus number of GPUs from the first on; 0 for all */
    static List<GpuSampling> of(Driver driver, int gpus) {
        List<GpuIdentity> known =
                driver.enumerate().asOptional().orElseThrow(() -> new IllegalStateException("GPUs cannot be counted"));
        if (known.isEmpty() || gpus > known.size()) {
            throw new IllegalStateException("asked for " + gpus + " GPUs, the driver has " + known.size());
        }
        List<GpuSampling> samplings = new ArrayList<>();
        for (GpuIdentity gpu : known.subList(0, gpus == 0 ? known.size() : gpus)) {
            samplings.add(new GpuSampling(driver.sampler(gpu.index()), new GpuFrame()));
        }
        return samplings;
    }

    void sample(Cadence cadence) {
        sampler.sample(cadence, frame);
    }

    @Override
    public void close() {
        sampler.close();
    }
}
