/*
 * The argument of each kernel: one structure, passed by value, so cuLaunchKernel has one parameter. Every member has 8 bytes.
 * Every launch has one dimension and blocks of KERNEL_THREADS threads. Kernels with `per_block` need a grid of
 * count / per_block blocks, rounded up: a block owns `per_block` neighbouring elements. Kernels that write store the SM of block b
 * in sm[b] (one element for each block; null: not stored).
 */
#ifndef GPUWARDEN_ARGUMENTS_H
#define GPUWARDEN_ARGUMENTS_H

typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned short u16;

#define KERNEL_THREADS 256u

/* Edges of the part of a product that one block writes. n is a multiple of both. */
#define DGEMM_TILE 64u
#define WMMA_TILE_ROWS 64u
#define WMMA_TILE_COLUMNS 128u

#define REPORT_KEPT 16
#define REPORT_SMS 512
#define UNKNOWN_SM (~0ULL)

/*
 * The block that wrote an element, for a report. Elements are rows of `width`, and a block wrote a tile of them. A kernel with
 * per_block has width = tile_width = per_block and tile_height = 1. `sm` is what that kernel stored; null: UNKNOWN_SM.
 */
typedef struct {
    const u64 *sm;
    u64 width, tile_width, tile_height;
} writers_t;

/* Values are bit patterns; those of 32 bits have an upper half of 0. */
typedef struct {
    u64 index, expected, seen, writer_sm, reader_sm;
} mismatch_t;

/*
 * The result of a verification. Before the launch the caller stores 0, and ~0 in `first`. Several launches can add to one report.
 * wrong_of_sm counts by the writer's SM, and by the reader's if the writer's is not stored. Its last element counts all SMs beyond.
 * `kept` has the first min(wrong, REPORT_KEPT) mismatches in order of discovery, which differs between runs on a GPU.
 */
typedef struct {
    u64 wrong, first;
    u64 wrong_of_sm[REPORT_SMS];
    mismatch_t kept[REPORT_KEPT];
} report_t;

/* `value` is the constant, the word to rotate by one bit for each element, the address of the first word, or the seed. */
enum { PATTERN_CONSTANT, PATTERN_WALKING, PATTERN_ADDRESS, PATTERN_RANDOM };

typedef struct {
    u64 *words;
    u64 count, per_block, pattern, value;
    u64 *sm;
} pattern_fill_args;

typedef struct {
    const u64 *words;
    u64 count, per_block, pattern, value;
    writers_t writers;
    report_t *report;
} pattern_verify_args;

/* x and y get integers of -1000 to 1000. */
typedef struct {
    double *x, *y;
    u64 count, per_block, seed;
    u64 *sm;
} daxpy_fill_args;

/* y = factor * x + y */
typedef struct {
    double factor;
    const double *x;
    double *y;
    u64 count, per_block;
    u64 *sm;
} daxpy_args;

/* Expects y after `rounds` launches of daxpy on filled vectors: exact if factor is an integer and |rounds * factor| < 2^42. */
typedef struct {
    const double *y;
    u64 count, per_block, seed, rounds;
    double factor;
    writers_t writers;
    report_t *report;
} daxpy_verify_args;

/* Fills factor A (side 0) or B (side 1) of a product of n by n matrices, row after row; count is n * n. */
typedef struct {
    double *cells;
    u64 n, count, per_block, seed, side;
    u64 *sm;
} dgemm_fill_args;

/* C = A * B; the grid has (n / DGEMM_TILE)^2 blocks. */
typedef struct {
    const double *a, *b;
    double *c;
    u64 n;
    u64 *sm;
} dgemm_args;

/* Expects the product of the filled factors, exactly. */
typedef struct {
    const double *cells;
    u64 n, count, per_block, seed;
    writers_t writers;
    report_t *report;
} dgemm_verify_args;

/* The same with factors of FP16, given by their bits, and a product of FP32. n is at most 65536. */
typedef struct {
    u16 *cells;
    u64 n, count, per_block, seed, side;
    u64 *sm;
} wmma_fill_args;

/* The grid has (n / WMMA_TILE_ROWS) * (n / WMMA_TILE_COLUMNS) blocks; a and b are aligned to 32 bytes. */
typedef struct {
    const u16 *a, *b;
    float *c;
    u64 n;
    u64 *sm;
} wmma_product_args;

typedef struct {
    const float *cells;
    u64 n, count, per_block, seed;
    writers_t writers;
    report_t *report;
} wmma_verify_args;

/* The sum modulo 2^64 and the exclusive or of each block's words, in sums[b] and xors[b]. A second launch reduces those. */
typedef struct {
    const u64 *words;
    u64 count, per_block;
    u64 *sums, *xors, *sm;
} reduce_words_args;

/* The sum of each block's numbers in sums[b], always added in the same order. */
typedef struct {
    const double *numbers;
    u64 count, per_block;
    double *sums;
    u64 *sm;
} reduce_doubles_args;

/* Two buffers, bit by bit, in words of 64 bits; `writers` wrote `seen`. */
typedef struct {
    const u64 *expected, *seen;
    u64 count, per_block;
    writers_t writers;
    report_t *report;
} compare_args;

/*
 * Elements of 2^log_bytes bytes, bit by bit, with a pattern that repeats after `period` elements: element i is that at
 * (position + i) % period. Adds the number of wrong elements to `wrong`.
 */
typedef struct {
    const void *pattern, *seen;
    u64 count, per_block, position, period, log_bytes;
    u64 *wrong;
} compare_pattern_args;

#endif
