/* Proves the kernels on the host against plain C: kernels PTX_DIRECTORY, which also has every kernel in its module. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

static int failures;

void expect(const char *file, int line, const char *subject, i64 expected, i64 seen)
{
    if (expected != seen) {
        failures++;
        fprintf(stderr, "%s: expected %lld, seen %lld (%s:%d)\n", subject, expected, seen, strrchr(file, '/') + 1, line);
    }
}

typedef struct {
    plant_t plant;
    unsigned ranges;
} planting_t;

static void spoil(void *environment, const cuda_written_t *written)
{
    planting_t *planting = environment;
    if (written->sm == planting->plant.sm && planting->ranges++ == planting->plant.range
        && planting->plant.offset < written->bytes) {
        ((unsigned char *)written->at)[planting->plant.offset] ^= planting->plant.mask;
    }
}

void launch(const char *name, void *arguments, u64 blocks, const plant_t *plant)
{
    const cuda_kernel_t *kernel = cuda_kernels;
    while (kernel->name && strcmp(kernel->name, name) != 0) {
        kernel++;
    }
    if (!kernel->name) {
        expect(__FILE__, __LINE__, name, 1, 0);
        return;
    }
    planting_t planting = {.ranges = 0};
    cuda_launch_t launch = {.grid = {(unsigned)blocks, 1, 1}, .block = {kernel->block_threads, 1, 1}, .sm_count = SMS, .args = &arguments};
    if (plant) {
        planting.plant = *plant;
        launch.spoil = spoil;
        launch.spoil_env = &planting;
    }
    kernel->run(&launch);
}

void *zeroed(u64 count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    if (!memory) {
        fprintf(stderr, "no memory for %llu elements\n", count);
        exit(1);
    }
    return memory;
}

report_t *new_report(void)
{
    report_t *report = zeroed(1, sizeof *report);
    report->first = ~0ULL;
    return report;
}

void expect_clean(report_t *report)
{
    EXPECT("mismatches", 0, report->wrong);
    EXPECT("first mismatch", ~0ULL, report->first);
    free(report);
}

void expect_one(report_t *report, u64 index, u64 bit, u64 sm)
{
    EXPECT("mismatches", 1, report->wrong);
    EXPECT("first mismatch", index, report->first);
    EXPECT("index", index, report->kept[0].index);
    EXPECT("wrong bits", bit, report->kept[0].expected ^ report->kept[0].seen);
    EXPECT("writer's SM", sm, report->kept[0].writer_sm);
    for (u64 i = 0; i < REPORT_SMS; i++) {
        EXPECT("mismatches of an SM", i == sm, report->wrong_of_sm[i]);
    }
    free(report);
}

/* Every kernel is an entry of its module, and modules have no others. */
static void test_ptx(const char *folder)
{
    int entries = 0, kernels = 0;
    const char *module = "";
    for (const cuda_kernel_t *kernel = cuda_kernels; kernel->name; kernel++, kernels++) {
        char path[4096], line[1024], entry[128];
        snprintf(path, sizeof path, "%s/%s.ptx", folder, kernel->module);
        snprintf(entry, sizeof entry, ".entry %s(", kernel->name);
        FILE *ptx = fopen(path, "r");
        if (!ptx) {
            perror(path);
            failures++;
            return;
        }
        int found = 0, of_module = 0;
        while (fgets(line, sizeof line, ptx)) {
            found += strstr(line, entry) != NULL;
            of_module += strstr(line, ".entry ") != NULL;
        }
        fclose(ptx);
        EXPECT(entry, 1, found);
        if (strcmp(module, kernel->module) != 0) {
            entries += of_module;
            module = kernel->module;
        }
    }
    EXPECT("kernels of all modules", entries, kernels);
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: kernels PTX_DIRECTORY\n");
        return 2;
    }
    test_ptx(arguments[1]);
    test_pattern();
    test_daxpy();
    test_products();
    test_reduce();
    test_compare();
    test_compare_pattern();
    return failures > 0;
}
