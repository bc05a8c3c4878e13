package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A file of observations: a first line that names schema and clock, then one line for each observation. Tenants are
 * written with the first observation of each list alone, since memory is read more often than tenants are listed.
 */
public final class Trace {

    public static final String SCHEMA = "gpuwarden.vram-trace/v1";

    private static final int MOST_GPUS = 64;

    private Trace() {}

    /**
     * The first line.
     *
     * @param at the time of the day at {@code atNanos} of the clock of the observations
     */
    public record Header(String node, Instant at, long atNanos) {

        /** Returns the time of the day of an observation. */
        public Instant time(long nanos) {
            return at.plusNanos(nanos - atNanos);
        }
    }

    /** Writes a trace. Not thread-safe; blocks on the stream, and does not close it. */
    public static final class Writer {

        private final OutputStream out;
        private final Map<String, Long> listed = new HashMap<>();

        /** Writes the first line. */
        public Writer(OutputStream out, Header header) throws IOException {
            this.out = out;
            Map<String, Object> first = new LinkedHashMap<>();
            first.put("schema", SCHEMA);
            first.put("node", header.node());
            first.put("at", header.at().toString());
            first.put("atNanos", header.atNanos());
            line(first);
        }

        public void write(GpuObservation seen) throws IOException {
            Long before = listed.put(seen.gpu(), seen.tenantsAtNanos());
            line(ObservationCodec.tree(seen, before == null || before != seen.tenantsAtNanos()));
        }

        private void line(Map<String, Object> tree) throws IOException {
            Output.writeJsonLine(tree, out);
            out.write('\n');
        }
    }

    /** Reads a trace one observation at a time. Not thread-safe. */
    public static final class Reader implements AutoCloseable {

        private final LineFile lines;
        private final Header header;
        private final Map<String, Reading<List<Tenant>>> tenants = new HashMap<>();

        /** @throws UserError where the file cannot be read or is no trace */
        public Reader(Path file) {
            lines = LineFile.open(file);
            try {
                Fields first = lines.next().orElseThrow(() -> new UserError(file + ": expected a trace, seen nothing"));
                header = lines.part(first, Reader::header);
            } catch (UserError e) {
                lines.close();
                throw e;
            }
        }

        private static Header header(Fields fields) throws IOException {
            String schema = fields.has("schema") ? fields.text("schema") : "none";
            if (!schema.equals(SCHEMA)) {
                throw new IOException("schema: expected " + SCHEMA + ", seen " + schema);
            }
            return new Header(fields.text("node"), fields.time("at"), fields.number("atNanos"));
        }

        public Header header() {
            return header;
        }

        /** Returns the next observation; empty at the end. @throws UserError that names file, line, expected and seen */
        public Optional<GpuObservation> next() {
            return lines.next().map(fields -> lines.part(fields, this::observation));
        }

        private GpuObservation observation(Fields fields) throws IOException {
            Reading<List<Tenant>> none =
                    Reading.absent(Absence.NO_DATA, 0, "the trace has no list of tenants before this line");
            GpuObservation seen = ObservationCodec.read(fields, tenants.getOrDefault(fields.text("gpu"), none));
            tenants.put(seen.gpu(), seen.tenants());
            if (tenants.size() > MOST_GPUS) {
                throw new IOException("gpu: expected at most " + MOST_GPUS + " GPUs, seen " + tenants.size());
            }
            return seen;
        }

        @Override
        public void close() {
            lines.close();
        }
    }
}
