package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/** Reads the observations of a trace, or of records. */
public final class ObservationFile {

    private ObservationFile() {}

    /** @throws UserError that names file, line, expected and seen */
    public static void read(Path file, Consumer<GpuObservation> each) {
        if (isTrace(file)) {
            try (Trace.Reader trace = new Trace.Reader(file)) {
                for (Optional<GpuObservation> seen = trace.next(); seen.isPresent(); seen = trace.next()) {
                    each.accept(seen.get());
                }
            }
        } else {
            Records.read(file, record -> each.accept(record.decision().seen()), action -> {}, wrong -> {
                throw wrong;
            });
        }
    }

    private static boolean isTrace(Path file) {
        try (LineFile lines = LineFile.open(file)) {
            return lines.next()
                    .map(first -> lines.part(
                            first, fields -> fields.optionalText("schema").orElse("")))
                    .filter(Trace.SCHEMA::equals)
                    .isPresent();
        }
    }
}
