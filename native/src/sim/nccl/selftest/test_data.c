/* Data: every type and operator against a plain loop, and every collective. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_selftest.h"

void test_symbols(test_t *test)
{
    char name[128], plain[140];
    int count = 0, version = 0;
    open_libraries(test, 0);
    FILE *list = fopen(test->symbols, "r");
    EXPECT(test->symbols, 1, list != NULL);
    while (list && fscanf(list, "%127[^\n]\n", name) == 1) {
        snprintf(plain, sizeof plain, "p%s", name);
        if (name[0] != '#') {
            count++;
            EXPECT(name, 1, dlsym(test->nccl, name) != NULL);
            EXPECT(plain, 1, dlsym(test->nccl, plain) == dlsym(test->nccl, name));
        }
    }
    EXPECT("as many as 2.21.5 has, and two for windows", 33, count);
    EXPECT("version", 0, NCCL(ncclGetVersion, &version));
    EXPECT("2.21.5", 22105, version);
    EXPECT("no place", 4, NCCL(ncclGetVersion, NULL));
    test->table->header->nccl_version = 22403;
    NCCL(ncclGetVersion, &version);
    EXPECT("of the table", 22403, version);
    EXPECT("text", 0, strcmp(find_text(test->nccl, "ncclGetErrorString")(6), "remote process exited or there was a network error"));
    EXPECT("no such", 0, strcmp(find_text(test->nccl, "ncclGetErrorString")(8), "unknown result code"));
    EXPECT("nothing from inside", 1, dlsym(test->nccl, "nc_fail") == NULL);
}

/* ---- numbers of every type, by the definition of the format and not by the library's code -------- */

static const int widths[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

static double value_of(int exponent_bits, int mantissa_bits, unsigned code)
{
    int bias = (1 << (exponent_bits - 1)) - 1, exponent = (int)(code >> mantissa_bits) & ((1 << exponent_bits) - 1);
    double mantissa = code & ((1U << mantissa_bits) - 1);
    return exponent == 0 ? ldexp(mantissa, 1 - bias - mantissa_bits)
                         : ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

/* The code of a number from 0 on that the format holds. */
static unsigned code_of(int exponent_bits, int mantissa_bits, double value)
{
    unsigned low = 0, high = (1U << (exponent_bits + mantissa_bits)) - 1;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (value_of(exponent_bits, mantissa_bits, middle) < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void put(int type, char *buffer, size_t at, double value)
{
    int64_t whole = (int64_t)value;
    float single = (float)value;
    uint16_t two;
    uint8_t one;
    char *to = buffer + at * (size_t)widths[type];
    switch (type) {
    case ncclFloat16: two = (uint16_t)code_of(5, 10, value), memcpy(to, &two, 2); break;
    case ncclBfloat16: two = (uint16_t)code_of(8, 7, value), memcpy(to, &two, 2); break;
    case ncclFloat8e4m3: one = (uint8_t)code_of(4, 3, value), memcpy(to, &one, 1); break;
    case ncclFloat8e5m2: one = (uint8_t)code_of(5, 2, value), memcpy(to, &one, 1); break;
    case ncclFloat32: memcpy(to, &single, 4); break;
    case ncclFloat64: memcpy(to, &value, 8); break;
    default: memcpy(to, &whole, (size_t)widths[type]); break; /* little-endian */
    }
}

/* Small enough for every format to hold each result exactly. */
static double input(int type, int rank, size_t i)
{
    int most = type >= ncclFloat8e4m3 ? 2 : 3;
    return 1 + (int)(((size_t)rank * 7 + i * 5 + i / 3) % (size_t)most);
}

static double combined(int type, int op, int count, size_t i)
{
    double result = op == ncclProd ? 1 : op == ncclMin ? 9 : 0;
    for (int r = 0; r < count; r++) {
        double x = input(type, r, i);
        result = op == ncclProd ? result * x : op == ncclMax ? fmax(result, x) : op == ncclMin ? fmin(result, x) : result + x;
    }
    return op != ncclAvg ? result : type < ncclFloat16 ? floor(result / count) : result / count;
}

/* Wrong elements of a block of the result that begins at `first`. */
static int wrong(const rank_t *rank, int type, int op, const void *from, size_t first, size_t count)
{
    size_t bytes = count * (size_t)widths[type];
    char *seen = malloc(bytes + 1), *expected = malloc(bytes + 1);
    int differences = 0;
    read_back(rank, seen, from, bytes);
    for (size_t i = 0; i < count; i++) {
        put(type, expected, i, combined(type, op, rank->count, first + i));
        differences += memcmp(seen + i * (size_t)widths[type], expected + i * (size_t)widths[type], (size_t)widths[type]) != 0;
    }
    free(seen);
    free(expected);
    return differences;
}

static void *inputs(const rank_t *rank, int type, size_t count)
{
    char *host = malloc(count * (size_t)widths[type] + 1);
    for (size_t i = 0; i < count; i++) {
        put(type, host, i, input(type, rank->rank, i));
    }
    void *device = device_memory(rank->test, count * (size_t)widths[type], host);
    free(host);
    return device;
}

static void all_types(rank_t *rank)
{
    test_t *test = rank->test;
    enum { COUNT = 37 };
    char subject[64];
    for (int type = 0; type < ncclNumTypes; type++) {
        void *send = inputs(rank, type, COUNT), *recv = device_memory(test, COUNT * 8, NULL);
        for (int op = ncclSum; op <= ncclAvg; op++) {
            snprintf(subject, sizeof subject, "type %d, op %d", type, op);
            EXPECT(subject, 0, NCCL(ncclAllReduce, send, recv, (size_t)COUNT, type, op, rank->comm, rank->stream));
            EXPECT(subject, 0, wrong(rank, type, op, recv, 0, COUNT));
        }
        EXPECT("in place", 0, NCCL(ncclAllReduce, send, send, (size_t)COUNT, type, ncclAvg, rank->comm, rank->stream));
        EXPECT("in place", 0, wrong(rank, type, ncclAvg, send, 0, COUNT));
    }
    EXPECT("no such type", 4, NCCL(ncclAllReduce, rank, rank, (size_t)1, 12, 0, rank->comm, rank->stream));
}

/* Sums of two that the format does not hold: halves go to even numbers, and what is too large has a rule of each format. */
static const struct {
    int type;
    unsigned first, second, sum;
} roundings[] = {
    {ncclFloat16, 0x6800, 0x3c00, 0x6800},  /* 2048 + 1 = 2048 */
    {ncclFloat16, 0x6800, 0x4200, 0x6802},  /* 2048 + 3 = 2052 */
    {ncclFloat16, 0x0001, 0x8003, 0x8002},  /* the smallest numbers */
    {ncclFloat16, 0x7bff, 0x7bff, 0x7c00},  /* infinity */
    {ncclBfloat16, 0x4380, 0x3f80, 0x4380}, /* 256 + 1 = 256 */
    {ncclBfloat16, 0x4380, 0x4040, 0x4382}, /* 256 + 3 = 260 */
    {ncclFloat8e4m3, 0x58, 0x38, 0x58},     /* 16 + 1 = 16 */
    {ncclFloat8e4m3, 0x7e, 0x7e, 0x7e},     /* 448 is the largest */
    {ncclFloat8e5m2, 0x48, 0x3c, 0x48},     /* 8 + 1 = 8 */
    {ncclFloat8e5m2, 0x48, 0x44, 0x4a},     /* 8 + 4 = 12 */
};

static void round_sums(rank_t *rank)
{
    test_t *test = rank->test;
    for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++) {
        uint16_t seen = 0, own = (uint16_t)(rank->rank == 0 ? roundings[i].first : roundings[i].second);
        void *memory = device_memory(test, 2, &own);
        NCCL(ncclAllReduce, memory, memory, (size_t)1, roundings[i].type, ncclSum, rank->comm, rank->stream);
        read_back(rank, &seen, memory, (size_t)widths[roundings[i].type]);
        EXPECT("rounded", roundings[i].sum, seen);
    }
}

void test_types(test_t *test)
{
    open_libraries(test, 0);
    test->table->header->nccl_version = 22403;
    run_ranks(test, 4, all_types, NULL);
    run_ranks(test, 2, round_sums, NULL);
}

static void all_collectives(rank_t *rank)
{
    test_t *test = rank->test;
    size_t n = (size_t)rank->count;
    static const size_t counts[] = {0, 1, 3, 1000};
    for (size_t c = 0; c < 4; c++) {
        size_t count = counts[c], bytes = 4 * count;
        int root = (int)c % rank->count;
        void *send = inputs(rank, ncclInt32, n * count), *recv = device_memory(test, n * bytes, NULL);
        EXPECT("AllReduce", 0, NCCL(ncclAllReduce, send, recv, count, ncclInt32, ncclSum, rank->comm, rank->stream));
        EXPECT("AllReduce", 0, wrong(rank, ncclInt32, ncclSum, recv, 0, count));
        EXPECT("ReduceScatter", 0, NCCL(ncclReduceScatter, send, recv, count, ncclInt32, ncclAvg, rank->comm, rank->stream));
        EXPECT("ReduceScatter", 0, wrong(rank, ncclInt32, ncclAvg, recv, (size_t)rank->rank * count, count));
        EXPECT("Reduce", 0, NCCL(ncclReduce, send, rank->rank == root ? recv : NULL, count, ncclInt32, ncclMax, root, rank->comm, rank->stream));
        EXPECT("Reduce", 0, rank->rank == root ? wrong(rank, ncclInt32, ncclMax, recv, 0, count) : 0);
        /* The scattered result is gathered: in place, then by broadcasts. */
        char *own = (char *)recv + (size_t)rank->rank * bytes;
        EXPECT("in place", 0, NCCL(ncclReduceScatter, send, (char *)send + (size_t)rank->rank * bytes, count, ncclInt32, ncclSum, rank->comm, rank->stream));
        EXPECT("copied", 0, CUDA(cuMemcpyDtoDAsync_v2, own, (char *)send + (size_t)rank->rank * bytes, bytes, rank->stream));
        EXPECT("AllGather", 0, NCCL(ncclAllGather, own, recv, count, ncclInt32, rank->comm, rank->stream));
        EXPECT("AllGather", 0, wrong(rank, ncclInt32, ncclSum, recv, 0, n * count));
        CUDA(cuMemsetD8Async, recv, 0, rank->rank == root ? (size_t)0 : n * bytes, rank->stream);
        EXPECT("Broadcast", 0, NCCL(ncclBroadcast, rank->rank == root ? recv : NULL, recv, n * count, ncclInt32, root, rank->comm, rank->stream));
        EXPECT("Broadcast", 0, wrong(rank, ncclInt32, ncclSum, recv, 0, n * count));
        CUDA(cuMemsetD8Async, recv, 0, rank->rank == root ? (size_t)0 : n * bytes, rank->stream);
        EXPECT("Bcast", 0, NCCL(ncclBcast, recv, n * count, ncclInt32, root, rank->comm, rank->stream));
        EXPECT("Bcast", 0, wrong(rank, ncclInt32, ncclSum, recv, 0, n * count));
    }
}

/* Twice a product with a factor, from the host and from the device. */
static void own_operators(rank_t *rank)
{
    test_t *test = rank->test;
    float factor = (float)(rank->rank + 1), inputs_of[3] = {1, 2, 3}, seen[3];
    void *send = device_memory(test, sizeof inputs_of, inputs_of), *recv = device_memory(test, sizeof seen, NULL);
    void *scalar = device_memory(test, sizeof factor, &factor);
    for (int residence = 0; residence < 2; residence++) {
        ncclRedOp_t op = 0;
        void *at = residence == ncclScalarDevice ? scalar : &factor;
        EXPECT("created", 0, NCCL(ncclRedOpCreatePreMulSum, &op, at, ncclFloat32, residence, rank->comm));
        EXPECT("other type", 4, NCCL(ncclAllReduce, send, recv, (size_t)1, ncclInt32, op, rank->comm, rank->stream));
        EXPECT("used", 0, NCCL(ncclAllReduce, send, recv, (size_t)3, ncclFloat32, op, rank->comm, rank->stream));
        EXPECT("destroyed", 0, NCCL(ncclRedOpDestroy, op, rank->comm));
        EXPECT("twice", 4, NCCL(ncclRedOpDestroy, op, rank->comm));
        read_back(rank, seen, recv, sizeof seen);
        EXPECT("1 + 2 + 3 + 4 times 3", 30, seen[2]);
    }
    EXPECT("builtin", 4, NCCL(ncclRedOpDestroy, ncclSum, rank->comm));
}

void test_collectives(test_t *test)
{
    open_libraries(test, 0);
    for (int count = 1; count <= GPUS; count++) {
        run_ranks(test, count, all_collectives, NULL);
    }
    run_ranks(test, GPUS, own_operators, NULL);
}

/* More than sockets and blocks hold, and sums that depend on their order: each run and each rank has the same bits. */
enum { LARGE = 700001 };
static float results[GPUS][2][LARGE];

static void large(rank_t *rank)
{
    test_t *test = rank->test;
    float *host = malloc(LARGE * sizeof *host);
    for (int i = 0; i < LARGE; i++) {
        host[i] = (float)sin(i + rank->rank * 0.7) * 1000;
    }
    void *send = device_memory(test, LARGE * sizeof *host, host), *recv = device_memory(test, LARGE * sizeof *host, NULL);
    for (int run = 0; run < 2; run++) {
        EXPECT("AllReduce", 0, NCCL(ncclAllReduce, send, recv, (size_t)LARGE, ncclFloat32, ncclSum, rank->comm, rank->stream));
        read_back(rank, results[rank->rank][run], recv, LARGE * sizeof *host);
    }
    free(host);
}

void test_large(test_t *test)
{
    open_libraries(test, 0);
    run_ranks(test, 3, large, NULL);
    int far = 0;
    for (int i = 0; i < LARGE; i++) {
        double sum = (float)sin(i) * 1000 + sin(i + 0.7) * 1000 + sin(i + 1.4) * 1000;
        far += fabs(results[0][0][i] - sum) > 0.01;
    }
    EXPECT("sums", 0, far);
    for (int r = 0; r < 3; r++) {
        EXPECT("same bits on each rank", 0, memcmp(results[r][0], results[0][0], sizeof results[0][0]));
        EXPECT("same bits in each run", 0, memcmp(results[r][1], results[0][0], sizeof results[0][0]));
    }
}
