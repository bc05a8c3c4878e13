/*
 * Results of a GPU that computes wrong. A launch whose conditions hold (wrong_* of the table) writes one wrong place, as the pattern
 * describes it. The place differs by launch, and is the same in each run of a test. Copies compute wrong only if wrong_kernel names them.
 */
#include <fnmatch.h>
#include <string.h>

#include "cuda_sim.h"

enum { LANE = 5, LANES = 32, EDGE = 16 };

/* SplitMix64. */
static uint64_t mixed(uint64_t z)
{
    z = (z + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static bool take_one(int64_t *times)
{
    int64_t left = __atomic_load_n(times, __ATOMIC_RELAXED);
    while (left != SIM_NA && left > 0) {
        if (__atomic_compare_exchange_n(times, &left, left - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            return true;
        }
    }
    return left == SIM_NA;
}

static bool decide(cu_wrong_t *wrong)
{
    sim_gpu_t *gpu = wrong->gpu;
    bool any_sm = gpu->wrong_sm == SIM_NA;
    char name[sizeof gpu->wrong_kernel + 1] = {0};
    memcpy(name, gpu->wrong_kernel, sizeof gpu->wrong_kernel);
    bool other = name[0] && fnmatch(name, wrong->kernel, FNM_EXTMATCH) != 0;
    bool cold = gpu->wrong_above != SIM_NA && gpu->temp_gpu <= gpu->wrong_above;
    bool idle = !any_sm && (gpu->wrong_sm < 0 || gpu->wrong_sm >= wrong->sm_count || gpu->wrong_sm >= wrong->blocks);
    if (gpu->wrong_pattern == SIM_WRONG_NONE || other || cold || idle) {
        return false;
    }
    int64_t launch = __atomic_add_fetch(&gpu->wrong_launches, 1, __ATOMIC_RELAXED);
    if (gpu->wrong_each > 1 && launch % gpu->wrong_each != 0) {
        return false;
    }
    wrong->random = mixed((uint64_t)launch);
    unsigned first = any_sm ? 0 : (unsigned)gpu->wrong_sm, step = any_sm ? 1 : wrong->sm_count;
    unsigned count = (wrong->blocks - first + step - 1) / step;
    wrong->block = first + step * (unsigned)(wrong->random % count);
    return take_one(&gpu->wrong_times);
}

static bool decided(cu_wrong_t *wrong, int64_t pattern)
{
    if (wrong->gpu->wrong_pattern != pattern) {
        return false;
    }
    if (wrong->state == CU_WRONG_UNDECIDED) {
        wrong->state = decide(wrong) ? CU_WRONG_YES : CU_WRONG_NO;
    }
    return wrong->state == CU_WRONG_YES;
}

bool cu_wrong_nothing(cu_wrong_t *wrong)
{
    return decided(wrong, SIM_WRONG_NOTHING);
}

uint64_t cu_wrong_stuck(cu_wrong_t *wrong)
{
    return decided(wrong, SIM_WRONG_STUCK) ? 1u << 4 : 0;
}

static uint64_t load(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

/* The highest bit of the fraction, in the floating-point format of this size. */
static uint64_t high_bit(size_t bytes)
{
    return 1ull << (bytes == 2 ? 9 : bytes == 4 ? 22 : 51);
}

static uint64_t not_a_number(size_t bytes)
{
    return bytes == 2 ? 0x7e00 : bytes == 4 ? 0x7fc00000 : 0x7ff8000000000000u;
}

static void spoil_one(const cu_wrong_t *wrong, const cuda_written_t *written)
{
    size_t bytes = written->element_bytes, elements = written->bytes / bytes;
    size_t place = (size_t)(wrong->random >> 16) % elements;
    unsigned bit = (unsigned)(wrong->random >> 8), bits = (unsigned)bytes * 8;
    unsigned char *at = (unsigned char *)written->at + place * bytes;
    uint64_t value = load(at, bytes);
    switch (wrong->gpu->wrong_pattern) {
    case SIM_WRONG_BIT: value ^= 1ull << bit % bits; break;
    case SIM_WRONG_BITS: value ^= 1ull << bit % bits ^ 1ull << (bit + 3) % bits ^ 1ull << (bit + 10) % bits; break;
    case SIM_WRONG_NAN: value = not_a_number(bytes); break;
    default: /* the next other value; a row of equal ones stays */
        for (size_t i = place + 1; i < elements && value == load(at, bytes); i++) {
            value = load((unsigned char *)written->at + i * bytes, bytes);
        }
    }
    memcpy(at, &value, bytes);
}

static void spoil_lane(const cuda_written_t *written)
{
    for (size_t i = LANE; i < written->bytes / written->element_bytes; i += LANES) {
        unsigned char *at = (unsigned char *)written->at + i * written->element_bytes;
        uint64_t value = load(at, written->element_bytes) | high_bit(written->element_bytes);
        memcpy(at, &value, written->element_bytes);
    }
}

void cu_wrong_spoil(void *environment, const cuda_written_t *written)
{
    cu_wrong_t *wrong = environment;
    if (wrong->gpu->wrong_pattern == SIM_WRONG_STUCK) {
        return;
    }
    if (wrong->state == CU_WRONG_UNDECIDED) {
        wrong->state = decide(wrong) ? CU_WRONG_YES : CU_WRONG_NO;
    }
    if (wrong->state == CU_WRONG_NO || written->sm != wrong->block % wrong->sm_count) {
        return;
    }
    if (wrong->gpu->wrong_pattern == SIM_WRONG_LANE) {
        spoil_lane(written);
    } else if (written->block == wrong->block) {
        unsigned range = wrong->ranges++;
        if (wrong->gpu->wrong_pattern == SIM_WRONG_FRAGMENT && range < EDGE) {
            size_t row = EDGE * written->element_bytes;
            memset(written->at, 0, row < written->bytes ? row : written->bytes);
        } else if (range == 0) {
            spoil_one(wrong, written);
        }
    }
}

void cu_wrong_copy(sim_gpu_t *gpu, const char *name, void *to, const void *from, size_t bytes)
{
    cu_wrong_t wrong = {.gpu = gpu, .kernel = name, .blocks = 1, .sm_count = 1};
    bool named = gpu->wrong_kernel[0];
    if (named && cu_wrong_nothing(&wrong)) {
        return;
    }
    memmove(to, from, bytes);
    if (named && gpu->wrong_pattern != SIM_WRONG_NOTHING) {
        cu_wrong_spoil(&wrong, &(cuda_written_t){0, 0, to, bytes, bytes % sizeof(uint64_t) == 0 ? sizeof(uint64_t) : 1});
    }
}
