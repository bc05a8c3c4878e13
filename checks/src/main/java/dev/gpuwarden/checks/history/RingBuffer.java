package dev.gpuwarden.checks.history;

import java.util.Arrays;

/**
 * A ring buffer of rows of numbers, in which the newest row replaces the oldest. Cells have 32 bits; a 64-bit number
 * takes two. Not thread-safe; allocates only when created.
 */
final class RingBuffer {

    private final int rows;
    private final int width;
    private final int[] cells;
    private int newest = -1;
    private int held;

    RingBuffer(int rows, int width) {
        this.rows = rows;
        this.width = width;
        this.cells = new int[rows * width];
    }

    /** Returns a copy. */
    RingBuffer copy() {
        RingBuffer copy = new RingBuffer(rows, width);
        System.arraycopy(cells, 0, copy.cells, 0, cells.length);
        copy.newest = newest;
        copy.held = held;
        return copy;
    }

    /** Returns the number of rows; ages are below it. */
    int held() {
        return held;
    }

    /** Starts a new row of zeros. */
    void advance() {
        newest = (newest + 1) % rows;
        held = Math.min(held + 1, rows);
        Arrays.fill(cells, newest * width, (newest + 1) * width, 0);
    }

    /** @param age 0 for the newest row */
    int get(int age, int cell) {
        return cells[at(age, cell)];
    }

    long getLong(int age, int cell) {
        int at = at(age, cell);
        return cells[at] & 0xffff_ffffL | (long) cells[at + 1] << 32;
    }

    /** Into the newest row. */
    void put(int cell, int value) {
        cells[at(0, cell)] = value;
    }

    /** Into the newest row. */
    void putLong(int cell, long value) {
        int at = at(0, cell);
        cells[at] = (int) value;
        cells[at + 1] = (int) (value >>> 32);
    }

    private int at(int age, int cell) {
        int row = newest - age;
        return (row < 0 ? row + rows : row) * width + cell;
    }
}
