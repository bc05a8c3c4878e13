/* The mixed-precision product on tensor cores, FP16 into FP32: each of 8 warps has 32 by 32 cells of its block's 64 by 128. */
#include "fragment.h"
#include "matrix.h"

#define PER_WARP 2u
#define WARP_TILE (PER_WARP * FRAGMENT)
#define WARP_COLUMNS (WMMA_TILE_COLUMNS / WARP_TILE)

/* The bits of an integer of at most 2048 in FP16. */
DEVICE u16 half_of_integer(i64 integer)
{
    u32 bits = bits_of_float((float)integer);
    return (u16)(integer == 0 ? 0 : (bits >> 16 & 0x8000) | (((bits & 0x7fffffff) - (112u << 23)) >> 13));
}

KERNEL(wmma_fill)
{
    PHASE {
        EACH_ELEMENT(i) {
            arg.cells[i] = half_of_integer(matrix_factor(arg.seed, arg.side, arg.n, i, WMMA_LIMIT));
        }
    }
    RECORD_SM();
    WROTE_ELEMENTS(arg.cells);
}

KERNEL(wmma_product)
{
    u64 tiles = arg.n / WMMA_TILE_COLUMNS;
    u64 first_row = blockIdx.x / tiles * WMMA_TILE_ROWS, first_column = blockIdx.x % tiles * WMMA_TILE_COLUMNS;

    WARP_PHASE {
        u32 warp = threadIdx.x / 32;
        u64 row = first_row + warp / WARP_COLUMNS * WARP_TILE, column = first_column + warp % WARP_COLUMNS * WARP_TILE;
        fragment_factor_t a[PER_WARP], b[PER_WARP];
        fragment_sum_t sums[PER_WARP][PER_WARP];
        UNROLL for (u32 i = 0; i < PER_WARP; i++) {
            UNROLL for (u32 j = 0; j < PER_WARP; j++) {
                fragment_zero(&sums[i][j]);
            }
        }
        for (u64 depth = 0; depth < arg.n; depth += FRAGMENT) {
            UNROLL for (u32 i = 0; i < PER_WARP; i++) {
                fragment_load_a(&a[i], arg.a + (row + i * FRAGMENT) * arg.n + depth, arg.n);
                fragment_load_b(&b[i], arg.b + depth * arg.n + column + i * FRAGMENT, arg.n);
            }
            UNROLL for (u32 i = 0; i < PER_WARP; i++) {
                UNROLL for (u32 j = 0; j < PER_WARP; j++) {
                    fragment_multiply(&sums[i][j], &a[i], &b[j]);
                }
            }
        }
        UNROLL for (u32 i = 0; i < PER_WARP; i++) {
            UNROLL for (u32 j = 0; j < PER_WARP; j++) {
                fragment_store(arg.c + (row + i * FRAGMENT) * arg.n + column + j * FRAGMENT, &sums[i][j], arg.n);
            }
        }
    }
    RECORD_SM();
    WROTE_TILE(arg.c, WMMA_TILE_ROWS, WMMA_TILE_COLUMNS);
}

KERNEL(wmma_verify)
{
    __shared__ matrix_sums_t partial[KERNEL_THREADS];
    PHASE {
        partial[threadIdx.x] = matrix_partial_sums(arg.seed, arg.n, threadIdx.x, WMMA_LIMIT);
    }
    PHASE {
        matrix_sums_t sums = matrix_join_sums(partial);
        EACH_ELEMENT(i) {
            float expected = (float)matrix_product(arg.seed, arg.n, sums, i, WMMA_LIMIT);
            VERIFY(i, bits_of_float(expected), bits_of_float(arg.cells[i]));
        }
    }
}
