package dev.gpuwarden.daemon.store;

import java.sql.SQLException;

/** What an error of the database asks for. Numbers are SQLite's primary result codes (sqlite3.h). */
enum SqliteErrorKind {
    /** The file is broken: it must be set aside. */
    CORRUPT,
    /** The disk is full, fails or refuses: what cannot be written waits. */
    UNAVAILABLE,
    /** A statement or its values are wrong: trying again changes nothing. */
    MISTAKE;

    private static final int CORRUPT_CODE = 11;

    static SqliteErrorKind of(SQLException error) {
        return switch (error.getErrorCode() & 0xff) {
            case CORRUPT_CODE, 26 -> CORRUPT;
            // SQLITE_ERROR: tables that were there are missing when somebody cut the file off under the daemon.
            case 1 -> String.valueOf(error.getMessage()).contains("no such table") ? CORRUPT : MISTAKE;
            // TOOBIG, CONSTRAINT, MISMATCH, MISUSE, RANGE, and JDBC's own complaints
            case 0, 18, 19, 20, 21, 25 -> MISTAKE;
            default -> UNAVAILABLE;
        };
    }

    /** What SQLite does not notice itself. */
    static SQLException corrupt(String message) {
        return new SQLException(message, null, CORRUPT_CODE);
    }
}
