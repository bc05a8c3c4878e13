package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainAuditLog.DrainAudit;
import dev.gpuwarden.aggregator.janitor.MaintenanceAuditLog.MaintenanceAudit;
import dev.gpuwarden.aggregator.quarantine.AuditRecord;
import dev.gpuwarden.aggregator.remediation.RepairAuditLog.RepairAudit;
import dev.gpuwarden.aggregator.web.FleetView.Decisions;
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
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The audit log: one line of JSON for each decision. A dry run repeats its decision with each change of a Node; the log has it
 * once.
 */
final class AuditLog implements Consumer<AuditRecord> {

    static final long MOST_BYTES = 64L << 20;

    /** Older files, `FILE.1` to `FILE.8`. */
    static final int OLDER = 8;

    private final AuditTarget target;
    private final Decisions last;
    private final Map<String, String> dry = new HashMap<>();

    AuditLog(AuditTarget target, Decisions last) {
        this.target = target;
        this.last = last;
    }

    /**
     * Opens the log. Throws {@link UserError} if the file cannot be written.
     *
     * @param file the file; null for standard output
     * @param last receives each record after it is written
     */
    static AuditLog open(@Nullable Path file, Decisions last) {
        if (file == null) {
            // Not System.out: it hides failed writes.
            return new AuditLog(AuditTarget.of(new FileOutputStream(FileDescriptor.out)), last);
        }
        try {
            RotatingLog log = new RotatingLog(file, MOST_BYTES, OLDER);
            // The first record finds a file, and waits for its content alone.
            log.create();
            return new AuditLog(log::append, last);
        } catch (IOException e) {
            throw new UserError("--audit.file " + file + " cannot be written: " + FileErrors.why(e));
        }
    }

    @Override
    public synchronized void accept(AuditRecord audit) {
        if (audit.mode() != ActionMode.DRY_RUN) {
            write(audit.toTree());
            return;
        }
        String decision = audit.kind() + " " + audit.reason();
        if (!decision.equals(dry.get(audit.node()))) {
            write(audit.toTree());
            // Last: what could not be written is written with the next change of the Node.
            dry.put(audit.node(), decision);
        }
    }

    /** Writes a record of a drain. The dry run of a drain sends each record once. */
    synchronized void drain(DrainAudit audit) {
        write(audit.toTree());
    }

    /** Writes a record of a repair. The dry run of a repair sends each record once. */
    synchronized void repair(RepairAudit audit) {
        write(audit.toTree());
    }

    /** Writes a record of maintenance. */
    synchronized void maintenance(MaintenanceAudit audit) {
        write(audit.toTree());
    }

    private void write(Map<String, Object> audit) {
        try {
            target.write((Json.write(audit) + "\n").getBytes(StandardCharsets.UTF_8));
            last.add(audit);
        } catch (IOException e) {
            // A decision that cannot be recorded is not carried out.
            throw new UncheckedIOException("the audit record cannot be written", e);
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
