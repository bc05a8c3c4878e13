package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import java.util.Optional;

/** A kernel log that can be read. */
interface LogSource extends AutoCloseable {

    /** For people: "/dev/kmsg", "journald", a file's path. */
    String name();

    /**
     * Tells everything that is there from the start that the source was made with. One that follows then waits for more until it
     * is closed, and tries again what fails; one that does not follow returns.
     */
    void read(Sink sink);

    /** Makes {@code read} return soon, from any thread. */
    @Override
    void close();

    /** Where reading goes on behind a record, in the source's own terms. Text is made only when it is stored. */
    interface Cursor {
        String text();
    }

    /** Takes what a source tells, on the source's thread. May block: then the source reads no further. */
    interface Sink {

        void record(KernelRecord record, Cursor behind);

        /**
         * Records are gone that nobody read.
         *
         * @param lost how many, as far as known; 0 where nobody can tell
         */
        void gap(long lost, String why);

        /** The log cannot be read now. */
        void unreadable(String why);

        /** The log can be read. */
        void readable();
    }

    /**
     * Where to begin.
     *
     * @param cursor behind the last record that was read; empty at the first start
     * @param sameBoot whether that was in this boot; if not, this boot is read from its beginning
     */
    record Start(Optional<String> cursor, boolean sameBoot) {

        static final Start FIRST = new Start(Optional.empty(), true);

        static Start behind(String cursor) {
            return new Start(Optional.of(cursor), true);
        }

        static Start afterReboot(String cursor) {
            return new Start(Optional.of(cursor), false);
        }

        /** Whether somebody read this log before, so that what is missing now was lost meanwhile. */
        boolean continued() {
            return cursor.isPresent();
        }

        /** What the cursor says behind "kind:", if it is of that kind and still holds. */
        Optional<String> here(String kind) {
            return sameBoot ? anyBoot(kind) : Optional.empty();
        }

        Optional<String> anyBoot(String kind) {
            return cursor.filter(text -> text.startsWith(kind + ":")).map(text -> text.substring(kind.length() + 1));
        }
    }
}
