package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.Signal.Kind;
import java.util.Map;
import java.util.Optional;

/**
 * Messages of the driver that a GPU fell off the bus, without the Xid 79 that usually comes with them: `GPU 0000:01:00.0: GPU has
 * fallen off the bus.`, or three lines of which the first names the GPU, in one record or in three.
 */
final class FallenOffBus {

    static final String CODE = "GPU_FALLEN_OFF_BUS";

    private FallenOffBus() {}

    /** @param body where the driver's message begins, behind "NVRM: " */
    static Optional<Signal> read(String text, int body) {
        if (text.indexOf("fallen off the bus", body) < 0) {
            return Optional.empty();
        }
        String why = "the driver says so without an Xid; as Xid 79: " + XidCatalog.SOURCE + ": RESTART_BM";
        return Optional.of(Signal.of(Kind.FALLEN_OFF_BUS, CODE, Resolution.REBOOT, why)
                .at(PrintedAddress.first(text, body))
                .named("GPU has fallen off the bus", Map.of()));
    }
}
