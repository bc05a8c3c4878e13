/* Harness: a fresh library and a table of two GPUs per case; a case reports what it expected. */
#ifndef GPUWARDEN_SIM_SELFTEST_H
#define GPUWARDEN_SIM_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>

#include "nvml_mirror.h"
#include "sim_functions.h"
#include "sim_table.h"

typedef struct {
    const char *generation;
    const char *symbols; /* this generation's list */
    const char *path;    /* the table's file */
    void *library;
    const char *cuda_path;
    const char *smi_path; /* the program nvidia-smi */
    void *cuda; /* libcuda, after begin_cuda() */
    sim_table_t *table;
    nvmlDevice_t gpu; /* index 0, after begin() */
} test_t;

void expect(const char *file, int line, const char *subject, long long expected, long long seen);
#define EXPECT(subject, expected, seen) \
    expect(__FILE__, __LINE__, subject, (long long)(expected), (long long)(seen))

/* The exported function, called with whatever arguments; 13 if this generation has none. */
typedef nvmlReturn_t (*call_t)();
call_t find(const test_t *test, const char *name);
#define CALL(name, ...) (find(test, #name)(__VA_ARGS__))

/* The same for libcuda. */
call_t find_cuda(const test_t *test, const char *name);
#define CUDA(name, ...) (find_cuda(test, #name)(__VA_ARGS__))

bool is(const test_t *test, const char *generation);
bool has(const test_t *test, const char *function);
/* nvmlInit and the first handle. */
void begin(test_t *test);
void add_process(const test_t *test, int gpu, int pid, int64_t bytes, int type);


enum { MIB = 1 << 20, CONTEXT = 256 * MIB };
/* Two GPUs of 8 GiB, of which 1 GiB is reserved, and libcuda. */
void begin_cuda(test_t *test);
/* Makes the primary context of a device current. */
void *use_cuda(const test_t *test, int device);
/* In a child process: opens libcuda, takes bytes on a device, writes the result to the pipe and waits for a signal. */
int hold_in_child(const test_t *test, int device, uint64_t bytes, int *result);

/* A node's folders, with the table of the case under another name: lib with the table and files of both GPUs, and dev. */
typedef struct {
    char root[64];
} folder_t;
folder_t make_folder(const test_t *test);
void remove_folder(const test_t *test, const folder_t *folder);

void test_held_by_nvml(test_t *test);
void test_held_without_attaching(test_t *test);
void test_held_by_cuda(test_t *test);
void test_held_in_container(test_t *test);
void test_held_elsewhere(test_t *test);
void test_smi_options(test_t *test);
void test_smi_rights(test_t *test);
void test_smi_refusals(test_t *test);
void test_smi_clears(test_t *test);
void test_smi_units(test_t *test);
void test_smi_misbehaves(test_t *test);
void test_cuda_devices(test_t *test);
void test_cuda_visible(test_t *test);
void test_cuda_account(test_t *test);
void test_limits(test_t *test);
void test_cuda_processes(test_t *test);
void test_cuda_mig(test_t *test);
void test_cuda_race(test_t *test);
void test_cuda_copies(test_t *test);
void test_cuda_rates(test_t *test);
void test_cuda_threads(test_t *test);
void test_cuda_waits(test_t *test);
void test_cuda_faults(test_t *test);
void test_cuda_failures(test_t *test);
void test_cuda_fork(test_t *test);
void test_cuda_modules(test_t *test);
void test_cuda_kernels(test_t *test);
void test_cuda_graphs(test_t *test);
void test_start(test_t *test);
void test_symbols(test_t *test);
void test_values(test_t *test);
void test_states(test_t *test);
void test_fields(test_t *test);
void test_mig(test_t *test);
void test_mig_profiles(test_t *test);
void test_mig_instances(test_t *test);
void test_topology(test_t *test);
void test_node(test_t *test);
void test_processes(test_t *test);
void test_events(test_t *test);
void test_faults(test_t *test);
void test_consistency(test_t *test);

#endif
