/* Processes that use a GPU: they have its file open, whatever name they opened it by. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "smi.h"

static bool has_open(const char *pid, const struct stat *file)
{
    char path[64];
    struct stat status;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *fds = opendir(path); /* NULL: it has ended */
    for (struct dirent *entry; fds && !found && (entry = readdir(fds));) {
        found = entry->d_name[0] != '.' && fstatat(dirfd(fds), entry->d_name, &status, 0) == 0
                && status.st_dev == file->st_dev && status.st_ino == file->st_ino;
    }
    if (fds) {
        closedir(fds);
    }
    return found;
}

/* This program itself does not open the file. */
static bool held(const sim_gpu_t *gpu)
{
    char name[32], path[PATH_MAX];
    struct stat file;
    bool found = false;
    snprintf(name, sizeof name, "nvidia%lld", (long long)gpu->minor);
    if (!sim_beside_table(name, path, sizeof path) || stat(path, &file) != 0) {
        return false;
    }
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && !found && (entry = readdir(processes));) {
        found = isdigit((unsigned char)entry->d_name[0]) && has_open(entry->d_name, &file);
    }
    if (processes) {
        closedir(processes);
    }
    return found;
}

/* A process of the scenario lives while the node's own /proc has it. Memory without a process holds nothing. */
static bool used_in_scenario(const sim_table_t *table, int slot)
{
    char name[64], path[PATH_MAX];
    for (int64_t i = 0; i < table->header->process_count && i < SIM_PROCESS_MAX; i++) {
        snprintf(name, sizeof name, "../proc/%lld", (long long)table->process[i].pid);
        if (table->process[i].gpu == slot && sim_beside_table(name, path, sizeof path) && access(path, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* The kernel's own client, which no process has (NVIDIA/mig-parted#181). Inferred: it is one with modeset alone. */
static bool used_by_modeset(void)
{
    char path[PATH_MAX];
    FILE *file = sim_beside_table("../sys/module/nvidia_drm/parameters/modeset", path, sizeof path) ? fopen(path, "r") : NULL;
    bool on = file && fgetc(file) == 'Y';
    if (file) {
        fclose(file);
    }
    return on;
}

bool smi_in_use(const sim_table_t *table, int slot)
{
    return held(&table->gpu[slot]) || used_in_scenario(table, slot) || used_by_modeset();
}
