package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.drain.DrainAudit;
import dev.gpuwarden.aggregator.quarantine.Audit;
import dev.gpuwarden.aggregator.quarantine.Mode;
import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Decisions as lines of JSON. A dry run decides the same again with each change of a Node: it is told once. */
final class AuditLog implements Consumer<Audit>, AutoCloseable {

    private final Writer out;
    private final Map<String, String> dry = new HashMap<>();

    private AuditLog(Writer out) {
        this.out = out;
    }

    /** Throws {@link UserError} where the file cannot be written. */
    static AuditLog open(@Nullable Path file, Writer standard) {
        if (file == null) {
            return new AuditLog(standard);
        }
        try {
            return new AuditLog(Files.newBufferedWriter(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
        } catch (IOException e) {
            throw new UserError("--audit.file " + file + " cannot be written: " + e.getMessage());
        }
    }

    @Override
    public synchronized void accept(Audit audit) {
        if (audit.mode() == Mode.DRY_RUN) {
            String said = audit.kind() + " " + audit.reason();
            if (said.equals(dry.put(audit.node(), said))) {
                return;
            }
        }
        write(audit.toLine());
    }

    /** The same for what becomes of pods, of which a dry run tells once by itself. */
    synchronized void drain(DrainAudit audit) {
        write(audit.toLine());
    }

    private void write(String line) {
        try {
            out.write(line + "\n");
            out.flush();
        } catch (IOException e) {
            // What cannot be recorded is not done.
            throw new UncheckedIOException("the audit record cannot be written", e);
        }
    }

    @Override
    public void close() {
        try {
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
