package dev.gpuwarden.nccl.data;

/**
 * Equal data in a part of a buffer.
 *
 * @param at first element in the buffer
 * @param count elements
 * @param position position in the pattern of the first one
 */
public record Segment(long at, long count, Pattern pattern, long position) {}
