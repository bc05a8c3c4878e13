package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.file.RotatingLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The records of a node's decisions, from the older of its two files to the newest line. */
public final class Records {

    private Records() {}

    /**
     * Reads the file and the older one beside it, if there is one.
     *
     * @param decisions gets each decision; one that both files have comes twice
     * @param wrong gets each line that is no record, as an error that names file, line, expected and seen
     * @throws UserError where a file cannot be read
     */
    public static void read(
            Path file, Consumer<DecisionRecord> decisions, Consumer<ActionRecord> actions, Consumer<UserError> wrong) {
        Path older = RotatingLog.older(file, 1);
        // A program that ends while it begins a new file leaves the older one alone.
        boolean olderAlone = Files.exists(older) && Files.notExists(file);
        for (Path each : olderAlone ? List.of(older) : List.of(older, file)) {
            if (each.equals(file) || Files.exists(each)) {
                try (LineFile lines = LineFile.open(each)) {
                    while (read(lines, decisions, actions, wrong)) {
                        // The next line follows.
                    }
                }
            }
        }
    }

    private static boolean read(
            LineFile lines,
            Consumer<DecisionRecord> decisions,
            Consumer<ActionRecord> actions,
            Consumer<UserError> wrong) {
        try {
            Optional<Fields> line = lines.next();
            line.ifPresent(fields -> lines.part(fields, all -> one(all, decisions, actions)));
            return line.isPresent();
        } catch (UserError e) {
            wrong.accept(e);
            return true;
        }
    }

    private static boolean one(Fields fields, Consumer<DecisionRecord> decisions, Consumer<ActionRecord> actions)
            throws IOException {
        String schema = fields.has("schema") ? fields.text("schema") : "none";
        switch (schema) {
            case DecisionRecord.SCHEMA -> decisions.accept(DecisionRecord.read(fields));
            case ActionRecord.SCHEMA -> actions.accept(ActionRecord.read(fields));
            default ->
                throw new IOException("schema: expected " + DecisionRecord.SCHEMA + " or " + ActionRecord.SCHEMA
                        + ", seen " + schema);
        }
        return true;
    }
}
