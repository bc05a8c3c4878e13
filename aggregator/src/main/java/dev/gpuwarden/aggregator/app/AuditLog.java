package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainAuditLog.DrainAudit;
import dev.gpuwarden.aggregator.quarantine.AuditRecord;
import dev.gpuwarden.aggregator.web.FleetView.Decisions;
import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.UserError;
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

/** Decisions as lines of JSON. A dry run decides the same again with each change of a Node: it is told once. */
final class AuditLog implements Consumer<AuditRecord>, AutoCloseable {

    private final AuditTarget target;
    private final Decisions last;
    private final Map<String, String> dry = new HashMap<>();

    AuditLog(AuditTarget target, Decisions last) {
        this.target = target;
        this.last = last;
    }

    /**
     * Throws {@link UserError} where the file cannot be written.
     *
     * @param file none for standard output
     * @param last told what has been written
     */
    static AuditLog open(@Nullable Path file, Decisions last) {
        if (file == null) {
            // Not System.out, which hides what could not be written.
            return new AuditLog(AuditTarget.of(new FileOutputStream(FileDescriptor.out)), last);
        }
        try {
            return new AuditLog(AuditFile.open(file, AuditFile.MOST_BYTES), last);
        } catch (IOException e) {
            throw new UserError("--audit.file " + file + " cannot be written: " + FileErrors.why(e));
        }
    }

    @Override
    public synchronized void accept(AuditRecord audit) {
        if (audit.mode() == ActionMode.DRY_RUN) {
            String said = audit.kind() + " " + audit.reason();
            if (said.equals(dry.put(audit.node(), said))) {
                return;
            }
        }
        write(audit.toTree());
    }

    /** The same for what becomes of pods, of which a dry run tells once by itself. */
    synchronized void drain(DrainAudit audit) {
        write(audit.toTree());
    }

    private void write(Map<String, Object> audit) {
        try {
            target.write((Json.write(audit) + "\n").getBytes(StandardCharsets.UTF_8));
            last.add(audit);
        } catch (IOException e) {
            // What cannot be recorded is not done.
            throw new UncheckedIOException("the audit record cannot be written", e);
        }
    }

    @Override
    public void close() {
        try {
            target.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where audit records go. Used by one thread at a time. */
    interface AuditTarget extends AutoCloseable {

        /**
         * Blocks until the record is where it is to be kept.
         *
         * @param record a whole line with its end
         * @throws IOException when it is not there; the next one begins a line all the same
         */
        void write(byte[] record) throws IOException;

        @Override
        void close() throws IOException;

        /** The stream of another owner, which is not closed. It must report what it cannot write, as no {@code PrintStream} does. */
        static AuditTarget of(OutputStream stream) {
            return new AuditTarget() {
                @Override
                public void write(byte[] record) throws IOException {
                    stream.write(record);
                    stream.flush();
                }

                @Override
                public void close() {}
            };
        }
    }
}
