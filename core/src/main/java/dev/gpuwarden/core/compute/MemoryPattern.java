package dev.gpuwarden.core.compute;

/** The content of a memory test. The ordinals are those of arguments.h in the native module. */
public enum MemoryPattern {
    /** Every word is the same: alternating bits. */
    CONSTANT,
    /** One bit is set, and moves by one place from word to word. */
    WALKING,
    /** Each word is its own address, so that two addresses of one cell show. */
    ADDRESS,
    /** Random words of a seed. */
    RANDOM
}
