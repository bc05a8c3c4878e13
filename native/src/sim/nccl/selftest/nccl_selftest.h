/* Harness: each case is a process of its own with a table of four GPUs on each of two nodes, since libnccl is never unloaded. */
#ifndef GPUWARDEN_NCCL_SELFTEST_H
#define GPUWARDEN_NCCL_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda_mirror.h"
#include "nccl_mirror.h"
#include "sim_table.h"

enum { GPUS = 4, PATH = 4096 };

typedef struct {
    const char *folder;       /* of the libraries */
    const char *symbols;      /* the list */
    const char *paths[2];     /* of the tables; the first is in use */
    sim_table_t *tables[2];
    sim_table_t *table;       /* the first */
    void *nccl, *cuda;        /* after open_libraries() */
} test_t;

void expect(const char *file, int line, const char *subject, long long expected, long long seen);
#define EXPECT(subject, expected, seen) expect(__FILE__, __LINE__, subject, (long long)(expected), (long long)(seen))
int failed_so_far(void);

/* The exported function, called with whatever arguments; 99 if there is none. */
typedef int (*call_t)();
call_t find(void *library, const char *name);
#define NCCL(name, ...) (find(test->nccl, #name)(__VA_ARGS__))
#define CUDA(name, ...) (find(test->cuda, #name)(__VA_ARGS__))
typedef const char *(*text_call_t)();
text_call_t find_text(void *library, const char *name);
#define LAST_ERROR() (find_text(test->nccl, "ncclGetLastError")(NULL))

/* Opens both libraries on the node of that number. */
void open_libraries(test_t *test, int node);
/* Makes the primary context of the device current. */
void *use_device(const test_t *test, int device);
double seconds(void);

/* A rank in a thread of its own. */
typedef struct {
    test_t *test;
    int rank, count;
    ncclComm_t comm;
    CUstream stream;
    int started; /* the result of its start */
    const void *argument;
} rank_t;
typedef void (*rank_body_t)(rank_t *);
/* Starts so many ranks of one communicator, each on its GPU, runs the body in each and destroys them. */
void run_ranks(test_t *test, int count, rank_body_t body, const void *argument);
/* The same without the end of the communicators. */
void run_ranks_only(test_t *test, int count, rank_body_t body, const void *argument);
/* Memory of the current device with these bytes, or with zeros. */
void *device_memory(const test_t *test, size_t bytes, const void *content);
/* Waits for the stream and copies. */
void read_back(const rank_t *rank, void *to, const void *from, size_t bytes);

void test_symbols(test_t *test);
void test_types(test_t *test);
void test_collectives(test_t *test);
void test_large(test_t *test);
void test_points(test_t *test);
void test_one_thread(test_t *test);
void test_split(test_t *test);
void test_processes(test_t *test);
void test_killed(test_t *test);
void test_arguments(test_t *test);
void test_environment(test_t *test);
void test_refused(test_t *test);
void test_time(test_t *test);
void test_order(test_t *test);
void test_hang(test_t *test);
void test_not_blocking(test_t *test);
void test_faults(test_t *test);
void test_mismatch(test_t *test);
void test_lost(test_t *test);
void test_strangers(test_t *test);

#endif
