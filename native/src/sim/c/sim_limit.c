#include "sim_limit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim_client.h"

enum { LONGEST = 4096 };

/* The folder where cgroup v2 is mounted: /sys/fs/cgroup, or below it beside cgroup v1. */
static bool mount_point(char folder[LONGEST])
{
    char line[2 * LONGEST];
    bool found = false;
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    while (mounts && !found && fgets(line, sizeof line, mounts)) {
        const char *type = strstr(line, " - ");
        found = type && strncmp(type, " - cgroup2 ", 11) == 0
                && sscanf(line, "%*s %*s %*s %*s %4095s", folder) == 1;
    }
    if (mounts) {
        fclose(mounts);
    }
    return found;
}

/* "/" for the root. */
static bool own_path(char path[LONGEST])
{
    char line[LONGEST];
    bool found = false;
    FILE *groups = fopen("/proc/self/cgroup", "re");
    while (groups && !found && fgets(line, sizeof line, groups)) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, "0::/", 4) == 0;
        if (found) {
            strcpy(path, line + 3);
        }
    }
    if (groups) {
        fclose(groups);
    }
    return found;
}

void sim_own_cgroups(int64_t groups[SIM_CGROUP_DEPTH])
{
    char path[2 * LONGEST], own[LONGEST];
    memset(groups, 0, SIM_CGROUP_DEPTH * sizeof groups[0]);
    if (!mount_point(path) || !own_path(own)) {
        return;
    }
    char *root = path + strlen(path);
    strcpy(root, own);
    for (int i = 0; i < SIM_CGROUP_DEPTH; i++) {
        struct stat folder;
        if (stat(path, &folder) != 0) {
            return;
        }
        groups[i] = (int64_t)folder.st_ino;
        char *last = strrchr(root, '/');
        if (!last || root[1] == '\0') {
            return;
        }
        last[last == root ? 1 : 0] = '\0';
    }
}

static bool is_in(const int64_t groups[SIM_CGROUP_DEPTH], int64_t group)
{
    for (int i = 0; i < SIM_CGROUP_DEPTH && groups[i] != 0; i++) {
        if (groups[i] == group) {
            return true;
        }
    }
    return false;
}

int64_t sim_limit_used(const sim_table_t *table, int slot, int64_t group)
{
    int64_t sum = 0;
    for (int row = 0; row < sim_client_count(table); row++) {
        const sim_cuda_client_t *client = &table->cuda_client[row];
        if (client->gpu == slot && is_in(client->cgroup, group) && sim_client_alive(table, row)) {
            sum += __atomic_load_n(&client->bytes, __ATOMIC_RELAXED);
        }
    }
    return sum;
}

bool sim_limit_permits(const sim_table_t *table, int slot, const int64_t groups[SIM_CGROUP_DEPTH], int64_t bytes)
{
    for (int row = 0; row < SIM_MEMORY_LIMIT_MAX; row++) {
        const sim_memory_limit_t *limit = &table->memory_limit[row];
        if (limit->cgroup != 0 && limit->gpu == slot && limit->hard != SIM_NA && is_in(groups, limit->cgroup)
            && sim_limit_used(table, slot, limit->cgroup) + bytes > limit->hard) {
            return false;
        }
    }
    return true;
}
