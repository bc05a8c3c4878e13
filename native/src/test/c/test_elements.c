/* Kernels that treat one element after another: patterns, DAXPY, reductions, comparison. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

enum { COUNT = 10007, PER_BLOCK = 1000, BLOCKS = 11 };

static u64 sm[BLOCKS];

static writers_t writers(void)
{
    return (writers_t){sm, PER_BLOCK, PER_BLOCK, 1};
}

/* ---- patterns ------------------------------------------------------------------------------ */

static void verify_pattern(pattern_fill_args fill, report_t *report)
{
    pattern_verify_args verify = {fill.words, fill.count, fill.per_block, fill.pattern, fill.value, writers(), report};
    launch("pattern_verify", &verify, BLOCKS, NULL);
}

static u64 plain_pattern(u64 pattern, u64 value, u64 index)
{
    if (pattern == PATTERN_WALKING) {
        for (u64 i = 0; i < index % 64; i++) {
            value = value << 1 | value >> 63;
        }
    }
    return pattern == PATTERN_ADDRESS ? value + 8 * index : value;
}

void test_pattern(void)
{
    const u64 values[] = {0xa5a5a5a55a5a5a5aULL, ~1ULL, 0x7f0000000000ULL, 42};
    u64 *words = zeroed(COUNT + 1, sizeof *words);
    for (u64 pattern = PATTERN_CONSTANT; pattern <= PATTERN_RANDOM; pattern++) {
        pattern_fill_args fill = {words, COUNT, PER_BLOCK, pattern, values[pattern], sm};
        words[COUNT] = 77;
        launch("pattern_fill", &fill, BLOCKS, NULL);
        EXPECT("word beyond the last", 77, words[COUNT]);
        for (u64 i = 0; i < COUNT && pattern != PATTERN_RANDOM; i++) {
            EXPECT("word", plain_pattern(pattern, fill.value, i), words[i]);
        }
        report_t *clean = new_report();
        verify_pattern(fill, clean);
        expect_clean(clean);

        /* Block 10 is the second of SM 4, and has 7 elements. */
        launch("pattern_fill", &fill, BLOCKS, &(plant_t){.sm = 4, .range = 1, .offset = 6 * 8 + 7, .mask = 0x80});
        report_t *planted = new_report();
        verify_pattern(fill, planted);
        EXPECT("reader's SM", 4, planted->kept[0].reader_sm);
        expect_one(planted, 10006, 1ULL << 63, 4);
    }
    /* First outputs of SplitMix64 with seed 42. */
    EXPECT("first random word", 0xbdd732262feb6e95ULL, words[0]);
    EXPECT("second random word", 0x28efe333b266f103ULL, words[1]);

    /* All wrong, without the writers' SMs. */
    report_t *report = new_report();
    pattern_verify_args verify = {words, COUNT, PER_BLOCK, PATTERN_CONSTANT, 1, {NULL, 0, 0, 0}, report};
    launch("pattern_verify", &verify, BLOCKS, NULL);
    EXPECT("mismatches", COUNT, report->wrong);
    EXPECT("first mismatch", 0, report->first);
    EXPECT("writer's SM", UNKNOWN_SM, report->kept[REPORT_KEPT - 1].writer_sm);
    EXPECT("mismatches that SM 4 read", 1007, report->wrong_of_sm[4]);
    EXPECT("mismatches that SM 5 read", 1000, report->wrong_of_sm[5]);
    free(report);
    free(words);
}

/* ---- DAXPY --------------------------------------------------------------------------------- */

static void verify_daxpy(const double *y, u64 rounds, double factor, report_t *report)
{
    daxpy_verify_args verify = {y, COUNT, PER_BLOCK, 9, rounds, factor, writers(), report};
    launch("daxpy_verify", &verify, BLOCKS, NULL);
}

void test_daxpy(void)
{
    double *x = zeroed(COUNT, sizeof *x), *y = zeroed(COUNT, sizeof *y), *plain = zeroed(COUNT, sizeof *plain);
    daxpy_fill_args fill = {x, y, COUNT, PER_BLOCK, 9, sm};
    launch("daxpy_fill", &fill, BLOCKS, NULL);
    int distinct = 0;
    for (u64 i = 0; i < COUNT; i++) {
        plain[i] = y[i];
        distinct += x[i] != y[i] && fabs(x[i]) <= 1000 && fabs(y[i]) <= 1000 && x[i] == floor(x[i]);
    }
    EXPECT("most elements differ, and are integers", 1, distinct > COUNT * 99 / 100);
    for (u64 round = 1; round <= 5; round++) {
        daxpy_args daxpy = {-3, x, y, COUNT, PER_BLOCK, sm};
        launch("daxpy", &daxpy, BLOCKS, NULL);
        for (u64 i = 0; i < COUNT; i++) {
            plain[i] = plain[i] - 3 * x[i];
            EXPECT("y is exact", 1, plain[i] == y[i]);
        }
        report_t *report = new_report();
        verify_daxpy(y, round, -3, report);
        expect_clean(report);
    }
    daxpy_args daxpy = {-3, x, y, COUNT, PER_BLOCK, sm};
    launch("daxpy", &daxpy, BLOCKS, &(plant_t){.sm = 2, .range = 0, .offset = 8 * 123, .mask = 1});
    report_t *report = new_report();
    verify_daxpy(y, 6, -3, report);
    expect_one(report, 2123, 1, 2);

    /* Other numbers are rounded once, as by a GPU. */
    daxpy.factor = 0.1;
    x[0] = 3;
    y[0] = -0.3;
    launch("daxpy", &daxpy, BLOCKS, NULL);
    EXPECT("0.1 * 3 - 0.3 is rounded once", 1, y[0] == fma(0.1, 3, -0.3) && y[0] != 0.1 * 3 - 0.3);
    free(x);
    free(y);
    free(plain);
}

/* ---- reductions ---------------------------------------------------------------------------- */

void test_reduce(void)
{
    u64 *words = zeroed(COUNT, sizeof *words), sums[BLOCKS], xors[BLOCKS], sum = 0, exclusive_or = 0, all[2];
    pattern_fill_args fill = {words, COUNT, PER_BLOCK, PATTERN_RANDOM, 5, NULL};
    launch("pattern_fill", &fill, BLOCKS, NULL);
    for (u64 i = 0; i < COUNT; i++) {
        sum += words[i];
        exclusive_or ^= words[i];
    }
    reduce_words_args reduce = {words, COUNT, PER_BLOCK, sums, xors, sm};
    launch("reduce_words", &reduce, BLOCKS, NULL);
    reduce_words_args join_sums = {sums, BLOCKS, BLOCKS, &all[0], &all[1], sm};
    launch("reduce_words", &join_sums, 1, NULL);
    EXPECT("sum", sum, all[0]);
    reduce_words_args join_xors = {xors, BLOCKS, BLOCKS, &all[0], &all[1], sm};
    launch("reduce_words", &join_xors, 1, NULL);
    EXPECT("exclusive or", exclusive_or, all[1]);
    u64 sound = xors[7];
    launch("reduce_words", &reduce, BLOCKS, &(plant_t){.sm = 1, .range = 3, .mask = 4});
    EXPECT("planted bits of block 7", 4, xors[7] ^ sound);
    EXPECT("SM of block 7", 1, sm[7]);

    double *numbers = zeroed(COUNT, sizeof *numbers), partial[BLOCKS], total = 0, joined;
    for (u64 i = 0; i < COUNT; i++) {
        numbers[i] = (double)(i * i % 1001) - 500;
        total += numbers[i];
    }
    reduce_doubles_args doubles = {numbers, COUNT, PER_BLOCK, partial, sm};
    launch("reduce_doubles", &doubles, BLOCKS, NULL);
    reduce_doubles_args join = {partial, BLOCKS, BLOCKS, &joined, sm};
    launch("reduce_doubles", &join, 1, NULL);
    EXPECT("sum of numbers", total, joined);
    free(words);
    free(numbers);
}

/* ---- comparison ---------------------------------------------------------------------------- */

void test_compare(void)
{
    u64 *one = zeroed(COUNT, sizeof *one), *other = zeroed(COUNT, sizeof *other);
    pattern_fill_args fill = {one, COUNT, PER_BLOCK, PATTERN_RANDOM, 8, NULL};
    launch("pattern_fill", &fill, BLOCKS, NULL);
    fill.words = other;
    fill.sm = sm;
    launch("pattern_fill", &fill, BLOCKS, NULL);
    report_t *report = new_report();
    compare_args compare = {one, other, COUNT, PER_BLOCK, writers(), report};
    launch("compare", &compare, BLOCKS, NULL);
    EXPECT("mismatches", 0, report->wrong);
    /* Blocks 5 and 9. */
    other[5000] ^= 2;
    other[9999] ^= 1ULL << 40;
    launch("compare", &compare, BLOCKS, NULL);
    EXPECT("mismatches", 2, report->wrong);
    EXPECT("first mismatch", 5000, report->first);
    EXPECT("mismatches of SM 5", 1, report->wrong_of_sm[5]);
    EXPECT("mismatches of SM 3", 1, report->wrong_of_sm[3]);
    EXPECT("expected", one[5000], report->kept[0].expected);
    EXPECT("seen", other[5000], report->kept[0].seen);
    free(report);
    free(one);
    free(other);
}

/* A pattern of 7 elements from its third on, in each size of elements: the right data, then one wrong element. */
void test_compare_pattern(void)
{
    enum { PERIOD = 7, POSITION = 7000003 };
    unsigned char pattern[8 * PERIOD];
    for (unsigned i = 0; i < sizeof pattern; i++) {
        pattern[i] = (unsigned char)(31 * i + 5);
    }
    for (u64 log_bytes = 0; log_bytes <= 3; log_bytes++) {
        u64 bytes = 1ULL << log_bytes, wrong = 0;
        unsigned char *seen = zeroed(COUNT, bytes);
        for (u64 i = 0; i < COUNT; i++) {
            memcpy(seen + i * bytes, pattern + (POSITION + i) % PERIOD * bytes, bytes);
        }
        compare_pattern_args compare = {pattern, seen, COUNT, PER_BLOCK, POSITION, PERIOD, log_bytes, &wrong};
        launch("compare_pattern", &compare, BLOCKS, NULL);
        EXPECT("wrong elements", 0, wrong);
        seen[5000 * bytes] ^= 1;
        seen[COUNT * bytes - 1] ^= 128;
        launch("compare_pattern", &compare, BLOCKS, NULL);
        EXPECT("wrong elements", 2, wrong);
        free(seen);
    }
}
