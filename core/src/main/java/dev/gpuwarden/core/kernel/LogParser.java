package dev.gpuwarden.core.kernel;

import java.util.Optional;

/** A parser for one record of a kernel log. Cheap for records without a known message. */
public interface LogParser {

    /** Returns the message of a record; empty for a record without a known message. Never throws. */
    Optional<Signal> parse(String text);
}
