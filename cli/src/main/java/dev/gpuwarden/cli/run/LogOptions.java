package dev.gpuwarden.cli.run;

import dev.gpuwarden.cli.JournalStream;
import java.util.Locale;
import java.util.logging.Level;
import picocli.CommandLine.Option;

/** The log options of a long-running program. */
public final class LogOptions {

    /** Names of formats as on the command line. */
    enum Form {
        auto,
        text,
        json,
        journald
    }

    /** The lowest level that is logged. */
    enum Least {
        error(Level.SEVERE),
        warning(Level.WARNING),
        info(Level.INFO),
        debug(Level.FINE);

        private final Level level;

        Least(Level level) {
            this.level = level;
        }
    }

    @Option(
            names = "--log.format",
            defaultValue = "auto",
            paramLabel = "FORMAT",
            description =
                    "Form of the log's lines on standard error: ${COMPLETION-CANDIDATES}; auto is journald, lines with"
                            + " a priority, where standard error is the journal, and otherwise text, lines with a time"
                            + " (default: ${DEFAULT-VALUE}).")
    Form format = Form.auto;

    @Option(
            names = "--log.level",
            defaultValue = "info",
            paramLabel = "LEVEL",
            description = "Lowest level that is logged: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Least level = Least.info;

    /** Applies the options to the log of this process. */
    public void install() {
        Logging.install(level.level, format(JournalStream.isStandardError()));
    }

    /**
     * Returns the format that applies.
     *
     * @param journal whether standard error is the journal
     */
    LogFormat format(boolean journal) {
        if (format == Form.auto) {
            return journal ? LogFormat.JOURNALD : LogFormat.TEXT;
        }
        return LogFormat.valueOf(format.name().toUpperCase(Locale.ROOT));
    }
}
