/* Limits of memory for a control group: NVML sets them, and libcuda holds the processes of that group to them. */
#include <stdio.h>
#include <string.h>

#include "cuda_mirror.h"
#include "selftest.h"

/* The folder of this process's group (cgroup v2); false where this machine has none. */
static bool own_group(char folder[4096])
{
    char line[4096], mounted[2048] = "", path[1024] = "";
    FILE *mounts = fopen("/proc/self/mountinfo", "r"), *groups = fopen("/proc/self/cgroup", "r");
    while (mounts && fgets(line, sizeof line, mounts)) {
        if (strstr(line, " - cgroup2 ")) {
            sscanf(line, "%*s %*s %*s %*s %2047s", mounted);
            break;
        }
    }
    while (groups && fgets(line, sizeof line, groups)) {
        if (strncmp(line, "0::", 3) == 0) {
            sscanf(line + 3, "%1023s", path);
        }
    }
    if (mounts) {
        fclose(mounts);
    }
    if (groups) {
        fclose(groups);
    }
    snprintf(folder, 4096, "%s%s", mounted, path);
    return mounted[0] && path[0];
}

static int set(const test_t *test, const char *group, uint64_t soft, uint64_t hard)
{
    nvmlSetMemoryLimits_v1_t limits = {group, soft, hard};
    return (int)CALL(nvmlDeviceSetMemoryLimits_v1, test->gpu, &limits);
}

void test_limits(test_t *test)
{
    char group[4096];
    nvmlGetMemoryLimits_v1_t seen = {.nameSpace = group};
    CUdeviceptr first = 0, second = 0;
    const uint64_t most = NVML_DEVICE_MEMORY_LIMIT_MAX;
    begin(test);
    begin_cuda(test);
    if (!has(test, "nvmlDeviceSetMemoryLimits_v1")) {
        EXPECT("older drivers lack it", 13, set(test, "/", 0, most));
        return;
    }
    EXPECT("no folder", 17, set(test, "/gone", 0, most));
    EXPECT("no group", 17, set(test, "/tmp", 0, most));
    EXPECT("null", 2, CALL(nvmlDeviceSetMemoryLimits_v1, test->gpu, (void *)NULL));
    EXPECT("soft above hard", 2, set(test, "/gone", 2, 1));
    EXPECT("above the card", 2, set(test, "/gone", (uint64_t)9 << 30, most));
    if (!own_group(group)) {
        return; /* the rest needs cgroup v2 */
    }
    EXPECT("no limit", 6, CALL(nvmlDeviceGetMemoryLimits_v1, test->gpu, &seen));
    use_cuda(test, 0);
    EXPECT("hold", 0, CUDA(cuMemAlloc_v2, &first, (size_t)1000 * MIB));
    EXPECT("set", 0, set(test, group, (uint64_t)1000 * MIB, (uint64_t)2000 * MIB));
    EXPECT("get", 0, CALL(nvmlDeviceGetMemoryLimits_v1, test->gpu, &seen));
    EXPECT("soft", (int64_t)1000 * MIB, seen.softLimit);
    EXPECT("hard", (int64_t)2000 * MIB, seen.hardLimit);
    EXPECT("used", CONTEXT + (int64_t)1000 * MIB, seen.currentUsed);
    EXPECT("above the limit", 2, CUDA(cuMemAlloc_v2, &second, (size_t)800 * MIB));
    EXPECT("up to the limit", 0, CUDA(cuMemAlloc_v2, &second, (size_t)744 * MIB));
    EXPECT("the other GPU has none", 0, (use_cuda(test, 1), CUDA(cuMemAlloc_v2, &first, (size_t)4000 * MIB)));
    EXPECT("below the use", 0, set(test, group, 0, (uint64_t)500 * MIB));
    use_cuda(test, 0);
    EXPECT("nothing more", 2, CUDA(cuMemAlloc_v2, &first, (size_t)2 * MIB));
    EXPECT("clear", 0, set(test, group, 0, most));
    EXPECT("cleared", 6, CALL(nvmlDeviceGetMemoryLimits_v1, test->gpu, &seen));
    EXPECT("free again", 0, CUDA(cuMemAlloc_v2, &first, (size_t)1000 * MIB));
}
