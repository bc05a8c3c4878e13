/* The product of two matrices in FP64, in tiles of shared memory: each thread has 4 by 4 cells of its block's 64 by 64. */
#include "matrix.h"

#define DEPTH 16u
#define CELLS 4u
#define STEP (DGEMM_TILE / CELLS)

typedef struct {
    double at[CELLS][CELLS];
} cells_t;

KERNEL(dgemm_fill)
{
    PHASE {
        EACH_ELEMENT(i) {
            arg.cells[i] = (double)matrix_factor(arg.seed, arg.side, arg.n, i, DGEMM_LIMIT);
        }
    }
    RECORD_SM();
    WROTE_ELEMENTS(arg.cells);
}

KERNEL(dgemm)
{
    __shared__ double a[DGEMM_TILE][DEPTH + 1]; /* One more column: rows start in different banks. */
    __shared__ double b[DEPTH][DGEMM_TILE];
    PER_THREAD(cells_t, sums);
    u64 tiles = arg.n / DGEMM_TILE;
    u64 first_row = blockIdx.x / tiles * DGEMM_TILE, first_column = blockIdx.x % tiles * DGEMM_TILE;

    PHASE {
        UNROLL for (u32 i = 0; i < CELLS; i++) {
            UNROLL for (u32 j = 0; j < CELLS; j++) {
                MINE(sums).at[i][j] = 0;
            }
        }
    }
    for (u64 depth = 0; depth < arg.n; depth += DEPTH) {
        PHASE {
            UNROLL for (u32 i = threadIdx.x; i < DGEMM_TILE * DEPTH; i += KERNEL_THREADS) {
                a[i / DEPTH][i % DEPTH] = arg.a[(first_row + i / DEPTH) * arg.n + depth + i % DEPTH];
                b[i / DGEMM_TILE][i % DGEMM_TILE] = arg.b[(depth + i / DGEMM_TILE) * arg.n + first_column + i % DGEMM_TILE];
            }
        }
        PHASE {
            u32 row = threadIdx.x / STEP, column = threadIdx.x % STEP;
            UNROLL for (u32 k = 0; k < DEPTH; k++) {
                UNROLL for (u32 i = 0; i < CELLS; i++) {
                    UNROLL for (u32 j = 0; j < CELLS; j++) {
                        MINE(sums).at[i][j] = fma(a[row + i * STEP][k], b[k][column + j * STEP], MINE(sums).at[i][j]);
                    }
                }
            }
        }
    }
    PHASE {
        u32 row = threadIdx.x / STEP, column = threadIdx.x % STEP;
        UNROLL for (u32 i = 0; i < CELLS; i++) {
            UNROLL for (u32 j = 0; j < CELLS; j++) {
                arg.c[(first_row + row + i * STEP) * arg.n + first_column + column + j * STEP] = MINE(sums).at[i][j];
            }
        }
    }
    RECORD_SM();
    WROTE_TILE(arg.c, DGEMM_TILE, DGEMM_TILE);
}

KERNEL(dgemm_verify)
{
    __shared__ matrix_sums_t partial[KERNEL_THREADS];
    PHASE {
        partial[threadIdx.x] = matrix_partial_sums(arg.seed, arg.n, threadIdx.x, DGEMM_LIMIT);
    }
    PHASE {
        matrix_sums_t sums = matrix_join_sums(partial);
        EACH_ELEMENT(i) {
            double expected = (double)matrix_product(arg.seed, arg.n, sums, i, DGEMM_LIMIT);
            VERIFY(i, bits_of_double(expected), bits_of_double(arg.cells[i]));
        }
    }
}
