/* Products of matrices: FP64, and FP16 into FP32. */
#include <stdlib.h>

#include "kernels.h"

enum { N = 256, CELLS = N * N, PER_BLOCK = 4096, FILL_BLOCKS = CELLS / PER_BLOCK, SEED = 3 };

static i64 half_value(u16 half)
{
    int exponent = (half >> 10 & 31) - 25;
    i64 mantissa = half & 0x7fff ? 1024 + (half & 1023) : 0;
    i64 magnitude = exponent < 0 ? mantissa >> -exponent : mantissa << exponent;
    return half & 0x8000 ? -magnitude : magnitude;
}

/* Integers of the two factors, and the sum of row times column. */
static i64 plain_cell(const i64 *a, const i64 *b, u64 row, u64 column)
{
    i64 sum = 0;
    for (u64 k = 0; k < N; k++) {
        sum += a[row * N + k] * b[k * N + column];
    }
    return sum;
}

static void expect_range(const char *factor, const i64 *cells, i64 limit)
{
    i64 least = 0, greatest = 0;
    for (u64 i = 0; i < CELLS; i++) {
        least = cells[i] < least ? cells[i] : least;
        greatest = cells[i] > greatest ? cells[i] : greatest;
    }
    EXPECT(factor, 1, least >= -limit && least < -limit / 2 && greatest <= limit && greatest > limit / 2);
}

static void test_dgemm(i64 *plain_a, i64 *plain_b)
{
    double *factors[2], *c = zeroed(CELLS, sizeof *c);
    u64 sm[N / DGEMM_TILE * (N / DGEMM_TILE)];
    const u64 blocks = sizeof sm / sizeof *sm;
    for (u64 side = 0; side < 2; side++) {
        factors[side] = zeroed(CELLS, sizeof(double));
        dgemm_fill_args fill = {factors[side], N, CELLS, PER_BLOCK, SEED, side, NULL};
        launch("dgemm_fill", &fill, FILL_BLOCKS, NULL);
        for (u64 i = 0; i < CELLS; i++) {
            (side ? plain_b : plain_a)[i] = (i64)factors[side][i];
        }
    }
    expect_range("FP64, A", plain_a, 1000);
    expect_range("FP64, B", plain_b, 1000);
    dgemm_args product = {factors[0], factors[1], c, N, sm};
    launch("dgemm", &product, blocks, NULL);
    for (u64 i = 0; i < CELLS; i++) {
        EXPECT("cell", 1, (double)plain_cell(plain_a, plain_b, i / N, i % N) == c[i]);
    }
    writers_t writers = {sm, N, DGEMM_TILE, DGEMM_TILE};
    report_t *clean = new_report();
    dgemm_verify_args verify = {c, N, CELLS, PER_BLOCK, SEED, writers, clean};
    launch("dgemm_verify", &verify, FILL_BLOCKS, NULL);
    expect_clean(clean);

    /* SM 5 has blocks 5 and 11, of 64 rows each: row 10 of block 11, which is the tile of rows 128 to 191, columns 192 to 255. */
    launch("dgemm", &product, blocks, &(plant_t){.sm = 5, .range = 64 + 10, .offset = 20 * 8 + 6, .mask = 0x10});
    verify.report = new_report();
    launch("dgemm_verify", &verify, FILL_BLOCKS, NULL);
    expect_one(verify.report, (128 + 10) * N + 192 + 20, 1ULL << 52, 5);
    free(factors[0]);
    free(factors[1]);
    free(c);
}

static void test_wmma(i64 *plain_a, i64 *plain_b)
{
    u16 *factors[2];
    float *c = zeroed(CELLS, sizeof *c);
    u64 sm[N / WMMA_TILE_ROWS * (N / WMMA_TILE_COLUMNS)];
    const u64 blocks = sizeof sm / sizeof *sm;
    for (u64 side = 0; side < 2; side++) {
        factors[side] = zeroed(CELLS, sizeof(u16));
        wmma_fill_args fill = {factors[side], N, CELLS, PER_BLOCK, SEED, side, NULL};
        launch("wmma_fill", &fill, FILL_BLOCKS, NULL);
        for (u64 i = 0; i < CELLS; i++) {
            (side ? plain_b : plain_a)[i] = half_value(factors[side][i]);
        }
    }
    expect_range("FP16, A", plain_a, 8);
    expect_range("FP16, B", plain_b, 8);
    wmma_product_args product = {factors[0], factors[1], c, N, sm};
    launch("wmma_product", &product, blocks, NULL);
    for (u64 i = 0; i < CELLS; i++) {
        EXPECT("cell", 1, (float)plain_cell(plain_a, plain_b, i / N, i % N) == c[i]);
    }
    writers_t writers = {sm, N, WMMA_TILE_COLUMNS, WMMA_TILE_ROWS};
    report_t *clean = new_report();
    wmma_verify_args verify = {c, N, CELLS, PER_BLOCK, SEED, writers, clean};
    launch("wmma_verify", &verify, FILL_BLOCKS, NULL);
    expect_clean(clean);

    /* Block 7 has rows 192 to 255 and columns 128 to 255, and is the second of SM 1. */
    launch("wmma_product", &product, blocks, &(plant_t){.sm = 1, .range = 64 + 63, .offset = 127 * 4, .mask = 1});
    verify.report = new_report();
    launch("wmma_verify", &verify, FILL_BLOCKS, NULL);
    expect_one(verify.report, CELLS - 1, 1, 1);
    free(factors[0]);
    free(factors[1]);
    free(c);
}

void test_products(void)
{
    i64 *plain_a = zeroed(CELLS, sizeof *plain_a), *plain_b = zeroed(CELLS, sizeof *plain_b);
    test_dgemm(plain_a, plain_b);
    test_wmma(plain_a, plain_b);
    free(plain_a);
    free(plain_b);
}
