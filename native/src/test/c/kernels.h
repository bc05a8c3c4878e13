#ifndef GPUWARDEN_TEST_KERNELS_H
#define GPUWARDEN_TEST_KERNELS_H

#include "arguments.h"
#include "host/cuda_kernels.h"

#define SMS 6u

/* One wrong bit: `mask` is flipped at `offset` of the range number `range` of those that SM `sm` writes. */
typedef struct {
    unsigned sm, range;
    size_t offset;
    unsigned char mask;
} plant_t;

/* Runs a kernel on SMS simulated SMs. `plant` can be null. */
void launch(const char *kernel, void *arguments, u64 blocks, const plant_t *plant);

#define EXPECT(subject, expected, seen) expect(__FILE__, __LINE__, subject, (i64)(expected), (i64)(seen))
void expect(const char *file, int line, const char *subject, i64 expected, i64 seen);

void *zeroed(u64 count, size_t bytes);
report_t *new_report(void);
void expect_clean(report_t *report);
/* Expects one mismatch, of one bit. */
void expect_one(report_t *report, u64 index, u64 bit, u64 sm);

void test_pattern(void);
void test_daxpy(void);
void test_products(void);
void test_reduce(void);
void test_compare(void);
void test_compare_pattern(void);

#endif
