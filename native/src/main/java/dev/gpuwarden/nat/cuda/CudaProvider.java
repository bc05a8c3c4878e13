package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.ComputeOpening;
import dev.gpuwarden.core.port.ComputeOpening.Opened;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.nat.cuda.CudaStart.Started;

/** A factory of compute drivers on libcuda.so.1, which comes with every driver. */
public final class CudaProvider implements ComputeProvider {

    @Override
    public ComputeOpening open(DriverOptions options) {
        Started started = CudaStart.start(options);
        if (started instanceof Started.Missing missing) {
            return missing.why();
        }
        CudaLibrary library = ((Started.Ready) started).library();
        try {
            return new Opened(CudaDriver.of(library, new Cublas(library, options.matrixLibraryPaths())));
        } catch (CudaException e) {
            return CudaStart.unavailable(library, e);
        }
    }
}
