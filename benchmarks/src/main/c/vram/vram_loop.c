/*
 * The calls by which the VRAM watchdog samples, in a plain C program. Usage:
 *
 *     vram_loop LIBNVML
 *
 * Then one command per line on standard input, one line of answer each:
 *
 *     memory N | processes N    N times, each on the next GPU:            GPUS P50 P99 MEAN, in nanoseconds
 *     sample HZ                 memory and processes of all GPUs, HZ times a second, until the next line:    ROUNDS
 *
 * Processes are three lists: of compute, of graphics and of MPS.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nvml_mirror.h"

enum { MOST_GPUS = 64, MOST_CALLS = 1000000, MOST_PROCESSES = 4096, LISTS = 3 };

typedef nvmlReturn_t list_function(nvmlDevice_t, unsigned *, void *);

static nvmlReturn_t (*memory_v2)(nvmlDevice_t, nvmlMemory_v2_t *);
static nvmlReturn_t (*memory_v1)(nvmlDevice_t, nvmlMemory_t *);
static list_function *lists[LISTS];
static nvmlDevice_t gpus[MOST_GPUS];
static unsigned count;
static long long times[MOST_CALLS];

static void fail(const char *what, int code)
{
    fprintf(stderr, "vram_loop: %s: %d\n", what, code);
    exit(1);
}

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void open_library(const char *path)
{
    static const char *const names[LISTS] = {"Compute", "Graphics", "MPSCompute"};
    static const char *const versions[] = {"_v3", "_v2", ""};
    nvmlReturn_t (*start)(void) = NULL, (*number)(unsigned *) = NULL, (*handle)(unsigned, nvmlDevice_t *) = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "vram_loop: %s\n", dlerror());
        exit(1);
    }
    *(void **)&start = dlsym(library, "nvmlInit_v2");
    *(void **)&number = dlsym(library, "nvmlDeviceGetCount_v2");
    *(void **)&handle = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&memory_v2 = dlsym(library, "nvmlDeviceGetMemoryInfo_v2");
    *(void **)&memory_v1 = dlsym(library, "nvmlDeviceGetMemoryInfo");
    for (int i = 0; i < LISTS; i++) {
        for (size_t v = 0; v < sizeof versions / sizeof *versions && !lists[i]; v++) {
            char name[64];
            snprintf(name, sizeof name, "nvmlDeviceGet%sRunningProcesses%s", names[i], versions[v]);
            *(void **)&lists[i] = dlsym(library, name);
        }
    }
    if (!start || !number || !handle || (!memory_v2 && !memory_v1) || !lists[0]) {
        fail("functions are missing", 0);
    }
    nvmlReturn_t code = start();
    if (code == NVML_SUCCESS) {
        code = number(&count);
    }
    if (count > MOST_GPUS) {
        count = MOST_GPUS;
    }
    for (unsigned i = 0; code == NVML_SUCCESS && i < count; i++) {
        code = handle(i, &gpus[i]);
    }
    if (code != NVML_SUCCESS || count == 0) {
        fail("no GPU answers", (int)code);
    }
}

static void read_memory(nvmlDevice_t gpu)
{
    nvmlReturn_t code;
    if (memory_v2) {
        nvmlMemory_v2_t memory = {.version = (unsigned)sizeof memory | 2u << 24};
        code = memory_v2(gpu, &memory);
    } else {
        nvmlMemory_t memory;
        code = memory_v1(gpu, &memory);
    }
    if (code != NVML_SUCCESS) {
        fail("memory", (int)code);
    }
}

static void read_processes(nvmlDevice_t gpu)
{
    static nvmlProcessDetail_v1_t entries[MOST_PROCESSES]; /* the largest form of an entry */
    for (int i = 0; i < LISTS; i++) {
        unsigned room = MOST_PROCESSES;
        nvmlReturn_t code = lists[i] ? lists[i](gpu, &room, entries) : NVML_SUCCESS;
        if (i == 0 && code != NVML_SUCCESS) {
            fail("processes", (int)code);
        }
    }
}

static int ascending(const void *a, const void *b)
{
    long long left = *(const long long *)a, right = *(const long long *)b;
    return left < right ? -1 : left > right;
}

static void measure(void (*read)(nvmlDevice_t), long number)
{
    long long sum = 0;
    if (number < 100 || number > MOST_CALLS) {
        fail("expected 100 to 1000000 calls", (int)number);
    }
    for (long i = 0; i < number; i++) {
        long long start = now_ns();
        read(gpus[i % (long)count]);
        times[i] = now_ns() - start;
        sum += times[i];
    }
    qsort(times, (size_t)number, sizeof *times, ascending);
    printf("%u %lld %lld %lld\n", count, times[number / 2], times[number * 99 / 100], sum / number);
}

static void sample(double hertz)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    long rounds = 0;
    if (!(hertz > 0 && hertz <= 1000)) {
        fail("expected above 0 and at most 1000 Hz", (int)hertz);
    }
    long long begin = now_ns();
    for (int wait = 0; poll(&in, 1, wait) == 0;) {
        for (unsigned i = 0; i < count; i++) {
            read_memory(gpus[i]);
            read_processes(gpus[i]);
        }
        rounds++;
        long long left = begin + (long long)((double)rounds * 1e9 / hertz) - now_ns();
        wait = left > 0 ? (int)(left / 1000000) : 0;
    }
    printf("%ld\n", rounds);
}

int main(int argc, char **argv)
{
    char line[64];
    double hertz;
    long number;
    if (argc != 2) {
        fputs("usage: vram_loop LIBNVML\n", stderr);
        return 2;
    }
    open_library(argv[1]);
    setvbuf(stdin, NULL, _IONBF, 0); /* or a line that was read ahead would never show in poll */
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "memory %ld", &number) == 1) {
            measure(read_memory, number);
        } else if (sscanf(line, "processes %ld", &number) == 1) {
            measure(read_processes, number);
        } else if (sscanf(line, "sample %lf", &hertz) == 1) {
            sample(hertz);
        } else if (line[0] != '\n') {
            fail(line, 0);
        }
    }
    return 0;
}
