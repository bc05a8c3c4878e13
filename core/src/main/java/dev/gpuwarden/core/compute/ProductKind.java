package dev.gpuwarden.core.compute;

/** A product of two matrices. */
public enum ProductKind {
    /** FP64 in the ordinary units. */
    FP64(64, 64, Double.BYTES, Double.BYTES),
    /** FP16 into FP32 in the tensor cores. */
    MIXED(64, 128, Short.BYTES, Float.BYTES);

    private final int tileRows;
    private final int tileColumns;
    private final int factorBytes;
    private final int cellBytes;

    ProductKind(int tileRows, int tileColumns, int factorBytes, int cellBytes) {
        this.tileRows = tileRows;
        this.tileColumns = tileColumns;
        this.factorBytes = factorBytes;
        this.cellBytes = cellBytes;
    }

    /** Returns the rows of the part that one block of a launch computes. */
    public int tileRows() {
        return tileRows;
    }

    /** Returns the columns of that part. */
    public int tileColumns() {
        return tileColumns;
    }

    /** Returns the bytes of a cell of a factor. */
    public int factorBytes() {
        return factorBytes;
    }

    /** Returns the bytes of a cell of the product. */
    public int cellBytes() {
        return cellBytes;
    }
}
