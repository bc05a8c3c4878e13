package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;

/** A factory of compute drivers on libcuda.so.1, which comes with every driver. */
public final class CudaProvider implements ComputeProvider {

    @Override
    public Opening<ComputeDriver> open(DriverOptions options) {
        return CudaStart.start(options).then(library -> opened(library, options));
    }

    private static Opening<ComputeDriver> opened(CudaLibrary library, DriverOptions options) {
        try {
            return new Opened<>(CudaDriver.of(library, new Cublas(library, options.matrixLibraryPaths())));
        } catch (CudaException e) {
            return CudaStart.unavailable(library, e);
        }
    }
}
