package dev.gpuwarden.aggregator.part;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.file.RotatingLog;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The audit log: one line of JSON for each decision. Thread-safe. */
public final class AuditLog {

    static final long MOST_BYTES = 64L << 20;

    /** Older files, `FILE.1` to `FILE.8`. */
    static final int OLDER = 8;

    private final AuditTarget target;
    private final List<Consumer<Map<String, Object>>> listeners = new CopyOnWriteArrayList<>();

    private AuditLog(AuditTarget target) {
        this.target = target;
    }

    /**
     * Opens the log. Throws {@link UserError} if the file cannot be written.
     *
     * @param file the file; null for standard output
     */
    public static AuditLog open(@Nullable Path file) {
        if (file == null) {
            // Not System.out: it hides failed writes.
            return new AuditLog(AuditTarget.of(new FileOutputStream(FileDescriptor.out)));
        }
        try {
            RotatingLog log = new RotatingLog(file, MOST_BYTES, OLDER);
            // The first record finds a file, and waits for its content alone.
            log.create();
            return new AuditLog(log::append);
        } catch (IOException e) {
            throw new UserError("--audit.file " + file + " cannot be written: " + FileErrors.why(e));
        }
    }

    /** @param listener receives each record after it is written */
    public void listen(Consumer<Map<String, Object>> listener) {
        listeners.add(listener);
    }

    public void write(Entry entry) {
        write(entry.toTree());
    }

    /** Writes a record, before its decision is carried out. A dry run sends each record once. */
    public synchronized void write(Map<String, Object> audit) {
        try {
            target.write((Json.write(audit) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // A decision that cannot be recorded is not carried out.
            throw new UncheckedIOException("the audit record cannot be written", e);
        }
        listeners.forEach(listener -> listener.accept(audit));
    }

    /**
     * A decision about a Node, or its result.
     *
     * @param resourceVersion version of the Node that was read; empty if none was
     * @param feature the feature that decided; the record has it before the decision
     * @param reason text for operators; may be empty
     * @param more the fields that the feature's records have besides, in order
     */
    public record Entry(
            Instant at,
            String node,
            String uid,
            String resourceVersion,
            boolean dryRun,
            String feature,
            String decision,
            String reason,
            Map<String, Object> more) {

        public Map<String, Object> toTree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("at", at.toString());
            tree.put("node", node);
            tree.put("uid", uid);
            if (!resourceVersion.isEmpty()) {
                tree.put("resourceVersion", resourceVersion);
            }
            tree.put("mode", dryRun ? "dry_run" : "armed");
            tree.put("decision", feature + "_" + decision);
            tree.put("reason", reason);
            tree.putAll(more);
            return tree;
        }
    }

    /** The destination of audit records. Used by one thread at a time. */
    interface AuditTarget {

        /**
         * Writes a record. Blocks until it is in its final place.
         *
         * @param record a whole line with its end
         * @throws IOException if the record was not written; the next record begins a new line in any case
         */
        void write(byte[] record) throws IOException;

        /**
         * Returns a target that writes to the stream, and never closes it. The stream must report failed writes, which {@code
         * PrintStream} does not.
         */
        static AuditTarget of(OutputStream stream) {
            return new AuditTarget() {
                private boolean cut;

                @Override
                public void write(byte[] record) throws IOException {
                    if (cut) {
                        stream.write('\n');
                    }
                    cut = true;
                    stream.write(record);
                    stream.flush();
                    cut = false;
                }
            };
        }
    }
}
