package dev.gpuwarden.core.kernel;

import java.util.Optional;

/** Reads one record of a kernel log. Stateless and thread-safe; cheap for the lines that say nothing about GPUs. */
public interface LogParser {

    /** Empty for a record that says nothing known. Never throws, whatever the text. */
    Optional<Signal> parse(String text);
}
