/*
 * The baseline of the sampler's benchmarks: the same readings taken by a plain C program. Usage:
 *
 *     sampler_loop LIBRARY GPUS          GPUS 0: all that the driver has
 *
 * Then one command per line on standard input, one line of answer each:
 *
 *     fast N | slow N     N rounds over all GPUs:    CALLS-PER-ROUND NANOSECONDS
 *     values              both once, as JSON:        [{"memory_total_bytes": 85520809984, ...}, ...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "library.h"
#include "readings.h"

static void fail(const char *what, const char *why) {
    fprintf(stderr, "sampler_loop: %s: %s\n", what, why);
    exit(1);
}

static void check(const char *what, nvmlReturn_t code) {
    if (code != NVML_SUCCESS) {
        char why[32];
        snprintf(why, sizeof why, "nvmlReturn %d", code);
        fail(what, why);
    }
}

static long long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void rounds(struct gpu *gpus, unsigned count, void (*read)(struct gpu *), long rounds) {
    unsigned long long calls = library_calls;
    long long start = now_ns();
    for (long i = 0; i < rounds; i++) {
        for (unsigned g = 0; g < count; g++) {
            read(&gpus[g]);
        }
    }
    long long end = now_ns();
    unsigned long long per_round = rounds > 0 ? (library_calls - calls) / (unsigned long long)rounds : 0;
    printf("%llu %lld\n", per_round, end - start);
}

static void print_reading(const char *before, const char *name, const struct reading *r) {
    if (r->status == PRESENT) {
        printf("%s\"%s\": %lld", before, name, r->value);
    } else {
        printf("%s\"%s\": {\"code\": %d}", before, name, r->code);
    }
}

static void print_gpu(const struct gpu *g) {
    const char *before = "{";
#define PRINT(name) print_reading(before, #name, &g->name), before = ", ";
    GPU_READINGS(PRINT)
#undef PRINT
    printf(", \"links\": [");
    long long links = g->nvlink_links.status == PRESENT ? g->nvlink_links.value : 0;
    for (long long i = 0; i < links && i < NVML_NVLINK_MAX_LINKS; i++) {
        before = i == 0 ? "{" : ", {";
#define PRINT(name) print_reading(before, #name, &g->links[i].name), before = ", ";
        LINK_READINGS(PRINT)
#undef PRINT
        printf("}");
    }
    printf("]}");
}

static void values(struct gpu *gpus, unsigned count) {
    for (unsigned g = 0; g < count; g++) {
        read_fast(&gpus[g]);
        read_slow(&gpus[g]);
        printf(g == 0 ? "[" : ", ");
        print_gpu(&gpus[g]);
    }
    printf("%s]\n", count == 0 ? "[" : "");
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fail("usage", "sampler_loop LIBRARY GPUS");
    }
    const char *missing = load_functions(argv[1]);
    if (missing != NULL) {
        fail(argv[1], missing);
    }
    check("start", start_driver());
    unsigned present = 0;
    check("count", DeviceGetCount_v2(&present));
    unsigned wanted = (unsigned)strtoul(argv[2], NULL, 10);
    unsigned count = wanted == 0 ? present : wanted;
    if (count > present) {
        fail("count", "the driver has fewer GPUs than asked for");
    }
    struct gpu *gpus = calloc(count > 0 ? count : 1, sizeof *gpus);
    if (gpus == NULL) {
        fail("memory", "none left");
    }
    for (unsigned g = 0; g < count; g++) {
        check("handle", DeviceGetHandleByIndex_v2(g, &gpus[g].device));
    }

    char line[64];
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strncmp(line, "fast ", 5) == 0) {
            rounds(gpus, count, read_fast, strtol(line + 5, NULL, 10));
        } else if (strncmp(line, "slow ", 5) == 0) {
            rounds(gpus, count, read_slow, strtol(line + 5, NULL, 10));
        } else if (strcmp(line, "values\n") == 0) {
            values(gpus, count);
        } else {
            fail("unknown command", line);
        }
        fflush(stdout);
    }
    free(gpus);
    return 0;
}
