/* Memory of the host for copies. It is ordinary memory here, since no device could be too slow for it. */
#include <stdlib.h>
#include <sys/mman.h>

#include "cuda_sim.h"

typedef struct host {
    struct host *next;
    void *address;
    size_t bytes;
} host_t;
static host_t *allocations;

static CUresult allocate(void **address, size_t bytes)
{
    CU_NEED(address && bytes > 0)
    host_t *host = malloc(sizeof *host);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!host || memory == MAP_FAILED) {
        free(host);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&cu_lock);
    *host = (host_t){allocations, memory, bytes};
    allocations = host;
    pthread_mutex_unlock(&cu_lock);
    *address = memory;
    return CUDA_SUCCESS;
}

bool cu_host_owns(const void *address, size_t bytes)
{
    bool found = false;
    pthread_mutex_lock(&cu_lock);
    for (const host_t *host = allocations; host; host = host->next) {
        uintptr_t offset = (uintptr_t)address - (uintptr_t)host->address;
        found = found || (offset <= host->bytes && bytes <= host->bytes - offset);
    }
    pthread_mutex_unlock(&cu_lock);
    return found;
}

/* The flags (1 portable, 2 mapped, 4 write-combined) change nothing that a copy shows. */
CU_IN_CONTEXT(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags), (address, bytes, flags))
{
    (void)call;
    CU_NEED(flags <= 7)
    return allocate(address, bytes);
}

CU_IN_CONTEXT(cuMemAllocHost_v2, (void **address, size_t bytes), (address, bytes))
{
    (void)call;
    return allocate(address, bytes);
}

CU_IN_CONTEXT(cuMemFreeHost, (void *address), (address))
{
    (void)call;
    host_t *found = NULL;
    pthread_mutex_lock(&cu_lock);
    for (host_t **at = &allocations; *at && !found;) {
        if ((*at)->address == address) {
            found = *at;
            *at = found->next;
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&cu_lock);
    CU_NEED(found)
    munmap(found->address, found->bytes);
    free(found);
    return CUDA_SUCCESS;
}
