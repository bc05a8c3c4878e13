package dev.gpuwarden.core.compute;

/**
 * The product that a right GPU computes, in integers and without a GPU (matrix.h of the native module has the same formulas):
 * A[i][k] = u(i) + s(k) and B[k][j] = t(k) + v(j), so C[i][j] = u(i) T + n u(i) v(j) + Q + v(j) S. Pure.
 */
public final class ExpectedProduct {

    // matrix.h: the order of the vectors, and the limits of their integers.
    private static final int U = 0;
    private static final int S = 1;
    private static final int T = 2;
    private static final int V = 3;
    private static final int FP64_LIMIT = 500;
    private static final int MIXED_LIMIT = 4;

    private final ProductKind kind;
    private final int n;
    private final long seed;
    private final int limit;
    private final long sumS;
    private final long sumT;
    private final long sumST;

    private ExpectedProduct(ProductKind kind, int n, long seed) {
        this.kind = kind;
        this.n = n;
        this.seed = seed;
        limit = kind == ProductKind.FP64 ? FP64_LIMIT : MIXED_LIMIT;
        long ofS = 0;
        long ofT = 0;
        long ofST = 0;
        for (int k = 0; k < n; k++) {
            long s = vector(S, k);
            long t = vector(T, k);
            ofS += s;
            ofT += t;
            ofST += s * t;
        }
        sumS = ofS;
        sumT = ofT;
        sumST = ofST;
    }

    /** Returns the product, which takes n steps. */
    public static ExpectedProduct of(ProductKind kind, int n, long seed) {
        return new ExpectedProduct(kind, n, seed);
    }

    /** Returns the digest of all cells. It takes n² steps: 0.2 s for n = 8192. */
    public static Digest digest(ProductKind kind, int n, long seed) {
        return of(kind, n, seed).digest();
    }

    /** Returns the bits of a cell, row after row; those of 32 bits have an upper half of 0. */
    public long cell(long index) {
        long u = vector(U, index / n);
        long value = u * sumT + sumST + (n * u + sumS) * vector(V, index % n);
        return kind == ProductKind.FP64
                ? Double.doubleToRawLongBits(value)
                : Integer.toUnsignedLong(Float.floatToRawIntBits(value));
    }

    private Digest digest() {
        long[] v = new long[n];
        for (int k = 0; k < n; k++) {
            v[k] = vector(V, k);
        }
        long sum = 0;
        long xor = 0;
        for (int i = 0; i < n; i++) {
            long u = vector(U, i);
            long row = u * sumT + sumST;
            long column = n * u + sumS;
            if (kind == ProductKind.FP64) {
                for (int j = 0; j < n; j++) {
                    long word = Double.doubleToRawLongBits(row + column * v[j]);
                    sum += word;
                    xor ^= word;
                }
            } else {
                for (int j = 0; j < n; j += 2) {
                    long word = word(row + column * v[j], row + column * v[j + 1]);
                    sum += word;
                    xor ^= word;
                }
            }
        }
        return new Digest(sum, xor);
    }

    private long vector(int which, long index) {
        return ExpectedElements.integer(4 * seed + which, index, limit);
    }

    /** Returns two neighbouring cells of FP32 as a word of the GPU's memory, which is little-endian. */
    private static long word(long low, long high) {
        return Integer.toUnsignedLong(Float.floatToRawIntBits(low))
                | (long) Float.floatToRawIntBits(high) << Integer.SIZE;
    }
}
