#include "sim_held.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    int fd;
    dev_t device;
    ino_t inode;
} file_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int times; /* that it was asked for; a file that is missing is searched once */
    file_t file[SIM_HELD_MAX];
} held[SIM_GPU_MAX];

static file_t open_file(const char *path)
{
    struct stat status;
    file_t file = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (file.fd >= 0 && fstat(file.fd, &status) == 0) {
        file.device = status.st_dev;
        file.inode = status.st_ino;
    }
    return file;
}

/* True if a list names the GPU: its index, its UUID, or "all". */
static bool named(const char *list, const sim_gpu_t *gpu, int slot)
{
    char index[16];
    snprintf(index, sizeof index, "%d", slot);
    const char *const names[] = {"all", index, gpu->uuid};
    while (*list) {
        size_t length = strcspn(list, ",");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strlen(names[i]) == length && strncmp(list, names[i], length) == 0) {
                return true;
            }
        }
        list += length + (list[length] == ',');
    }
    return false;
}

/* A container runtime gives a container only the files of the GPUs that this variable names. Here the folder has all of them. */
static bool in_container(const sim_table_t *table, int slot)
{
    const char *visible = getenv("NVIDIA_VISIBLE_DEVICES");
    return !visible || !*visible || named(visible, &table->gpu[slot], slot);
}

bool sim_hold(const sim_table_t *table, int slot, int times)
{
    char name[32], path[PATH_MAX];
    bool allowed = true;
    int64_t minor = table->gpu[slot].minor;
    snprintf(name, sizeof name, "nvidia%lld", (long long)minor);
    pthread_mutex_lock(&lock);
    if (held[slot].times < times && minor != SIM_NA && in_container(table, slot) && sim_beside_table(name, path, sizeof path)) {
        for (; allowed && held[slot].times < times; held[slot].times++) {
            held[slot].file[held[slot].times] = open_file(path);
            allowed = held[slot].file[held[slot].times].fd >= 0 || (errno != EACCES && errno != EPERM);
        }
    }
    pthread_mutex_unlock(&lock);
    return allowed;
}

/* A program may have closed all its descriptors, and have another file behind the number. */
static void close_file(file_t file)
{
    struct stat status;
    if (file.fd >= 0 && fstat(file.fd, &status) == 0 && status.st_dev == file.device
        && status.st_ino == file.inode) {
        close(file.fd);
    }
}

void sim_let_go(void)
{
    pthread_mutex_lock(&lock);
    for (int slot = 0; slot < SIM_GPU_MAX; slot++) {
        while (held[slot].times > 0) {
            close_file(held[slot].file[--held[slot].times]);
        }
    }
    pthread_mutex_unlock(&lock);
}

/* After a dlclose no code is left that could close them. */
__attribute__((destructor)) static void let_go_at_unload(void)
{
    sim_let_go();
}
