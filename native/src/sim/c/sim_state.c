#include "sim_state.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sim_table_t *mapped;
static dev_t mapped_device;
static ino_t mapped_inode;

/* A table of another layout is what a driver of another version would be. */
static nvmlReturn_t map_file(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return NVML_ERROR_DRIVER_NOT_LOADED;
    }
    if (mapped && status.st_dev == mapped_device && status.st_ino == mapped_inode) {
        return NVML_SUCCESS;
    }
    if (status.st_size < (off_t)sizeof(sim_table_t)) {
        return NVML_ERROR_LIB_RM_VERSION_MISMATCH;
    }
    sim_table_t *table =
        mmap(NULL, sizeof(sim_table_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (table == MAP_FAILED) {
        return NVML_ERROR_DRIVER_NOT_LOADED;
    }
    if (table->header->magic != SIM_MAGIC
        || table->header->layout_version != SIM_LAYOUT_VERSION) {
        munmap(table, sizeof(sim_table_t));
        return NVML_ERROR_LIB_RM_VERSION_MISMATCH;
    }
    /* An earlier table stays mapped: a thread may still hang in a call that reads it. */
    mapped_device = status.st_dev;
    mapped_inode = status.st_ino;
    __atomic_store_n(&mapped, table, __ATOMIC_RELEASE);
    return NVML_SUCCESS;
}

static bool fits(int length, size_t bytes)
{
    return length > 0 && length < (int)bytes;
}

/* GPUWARDEN_SIM, else the file beside this library: so one process can hold several nodes. */
static bool table_path(char *path, size_t bytes)
{
    const char *named = getenv("GPUWARDEN_SIM");
    Dl_info self;
    if (named && *named) {
        return fits(snprintf(path, bytes, "%s", named), bytes);
    }
    if (dladdr(&mapped, &self) == 0 || !self.dli_fname || !strrchr(self.dli_fname, '/')) {
        return false;
    }
    int folder = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
    return fits(snprintf(path, bytes, "%.*s/gpuwarden-sim.table", folder, self.dli_fname), bytes);
}

static int open_table(void)
{
    char path[PATH_MAX];
    return table_path(path, sizeof path) ? open(path, O_RDWR | O_CLOEXEC) : -1;
}

bool sim_beside_table(const char *name, char *path, size_t bytes)
{
    if (!table_path(path, bytes)) {
        return false;
    }
    char *slash = strrchr(path, '/');
    char *at = slash ? slash + 1 : path;
    size_t room = bytes - (size_t)(at - path);
    return fits(snprintf(at, room, "%s", name), room);
}

nvmlReturn_t sim_attach(void)
{
    int fd = open_table();
    if (fd < 0) {
        return NVML_ERROR_DRIVER_NOT_LOADED;
    }
    pthread_mutex_lock(&lock);
    nvmlReturn_t result = map_file(fd);
    pthread_mutex_unlock(&lock);
    close(fd);
    return result;
}

int sim_open_mapped(void)
{
    struct stat status;
    int fd = open_table();
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == mapped_device
        && status.st_ino == mapped_inode) {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

sim_table_t *sim_table(void)
{
    sim_table_t *table = __atomic_load_n(&mapped, __ATOMIC_ACQUIRE);
    if (!table && sim_attach() == NVML_SUCCESS) {
        table = __atomic_load_n(&mapped, __ATOMIC_ACQUIRE);
    }
    return table;
}

/* A writer that died in the middle must not stop every reader for good: two seconds, then go on. */
int64_t sim_begin_read(const sim_table_t *table)
{
    int64_t sequence = 0;
    for (int attempt = 0; attempt < 2100; attempt++) {
        sequence = __atomic_load_n(&table->header->sequence, __ATOMIC_ACQUIRE);
        if ((sequence & 1) == 0) {
            break;
        }
        if (attempt < 100) {
            sched_yield();
        } else {
            sim_sleep_ms(1);
        }
    }
    return sequence;
}

bool sim_changed(const sim_table_t *table, int64_t sequence)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return (sequence & 1) == 0
           && __atomic_load_n(&table->header->sequence, __ATOMIC_RELAXED) != sequence;
}

int64_t sim_now_ns(const sim_table_t *table)
{
    if (table && table->header->frozen_time_ns != 0) {
        return table->header->frozen_time_ns;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void sim_sleep_ms(int milliseconds)
{
    struct timespec pause = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    nanosleep(&pause, NULL);
}
