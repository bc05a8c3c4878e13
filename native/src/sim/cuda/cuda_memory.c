/*
 * Memory of devices: addresses are reserved once per context, and become memory of this process when they are allocated. The kernel
 * takes a page when it is first touched. An address therefore belongs to one device, as with unified addressing.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "cuda_graph.h"
#include "sim_client.h"

/* The driver takes memory from the GPU in blocks of 2 MiB. */
#define GRAIN ((size_t)2 << 20)
/* Addresses for each byte of memory, so that gaps between allocations rarely matter. */
enum { SPARE = 4 };

static size_t rounded(size_t bytes)
{
    return (bytes + GRAIN - 1) / GRAIN * GRAIN;
}

static bool reserve(cu_context_t *context, int64_t total)
{
    size_t bytes = rounded((size_t)total) * SPARE;
    void *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
        return false;
    }
    madvise(range, bytes, MADV_DONTDUMP);
    context->range = (uintptr_t)range;
    context->range_bytes = bytes;
    return true;
}

/* The first gap that is large enough; `at` receives the place in the list. */
static uintptr_t find_gap(const cu_context_t *context, size_t bytes, cu_block_t ***at)
{
    uintptr_t address = (context->range + GRAIN - 1) / GRAIN * GRAIN;
    cu_block_t *const *place = &context->blocks;
    while (*place && (*place)->address - address < bytes) {
        address = (*place)->address + rounded((*place)->bytes);
        place = &(*place)->next;
    }
    *at = (cu_block_t **)place;
    return address + bytes <= context->range + context->range_bytes ? address : 0;
}

/* Within cu_lock. */
static CUresult place_block(const cu_call_t *call, size_t bytes, CUdeviceptr *address)
{
    cu_context_t *context = call->context;
    sim_memory_t memory = sim_gpu_memory(call->table, context->slot, context->mig);
    cu_block_t **at, *block = malloc(sizeof *block);
    uintptr_t found = 0;
    if (block && (context->range || reserve(context, memory.total))) {
        found = find_gap(context, rounded(bytes), &at);
    }
    if (!found || mprotect((void *)found, rounded(bytes), PROT_READ | PROT_WRITE) != 0) {
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *block = (cu_block_t){*at, found, bytes};
    *at = block;
    *address = found;
    return CUDA_SUCCESS;
}

CU_IN_CONTEXT(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes), (address, bytes))
{
    CU_NEED(address && bytes > 0)
    if (bytes > INT64_MAX / SPARE) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    int64_t taken = (int64_t)rounded(bytes);
    CUresult result = cu_capture_unsafe();
    result = result == CUDA_SUCCESS ? cu_account_change(call->table, call->context, taken) : result;
    if (result != CUDA_SUCCESS) {
        return result;
    }
    pthread_mutex_lock(&cu_lock);
    result = place_block(call, bytes, address);
    pthread_mutex_unlock(&cu_lock);
    if (result != CUDA_SUCCESS) {
        cu_account_change(call->table, call->context, -taken);
    }
    return result;
}

/* The context whose addresses contain this one. */
static cu_context_t *holder(CUdeviceptr address)
{
    for (int i = 0; i < cu_device_count; i++) {
        if (address - cu_devices[i].range < cu_devices[i].range_bytes) {
            return &cu_devices[i];
        }
    }
    return NULL;
}

/* Gives the pages back to the kernel and keeps the addresses. */
static void drop(uintptr_t address, size_t bytes)
{
    mmap((void *)address, bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    madvise((void *)address, bytes, MADV_DONTDUMP);
}

static size_t remove_block(cu_context_t *context, CUdeviceptr address)
{
    for (cu_block_t **at = &context->blocks; *at; at = &(*at)->next) {
        cu_block_t *block = *at;
        if (block->address == address) {
            size_t bytes = rounded(block->bytes);
            drop(block->address, bytes);
            *at = block->next;
            free(block);
            return bytes;
        }
    }
    return 0;
}

/* Waits for the work of the context first, as the real one does. */
CU_IN_CONTEXT(cuMemFree_v2, (CUdeviceptr address), (address))
{
    if (address == 0) {
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&cu_lock);
    cu_context_t *context = holder(address);
    pthread_mutex_unlock(&cu_lock);
    CU_NEED(context)
    call->context = context;
    CUresult result = cu_capture_unsafe();
    result = result == CUDA_SUCCESS ? cu_settle(call, NULL) : result;
    result = result == CUDA_SUCCESS ? cu_wait(call, cu_work_end(context)) : result;
    if (result != CUDA_SUCCESS) {
        return result;
    }
    pthread_mutex_lock(&cu_lock);
    size_t bytes = remove_block(context, address);
    pthread_mutex_unlock(&cu_lock);
    CU_NEED(bytes > 0)
    return cu_account_change(call->table, context, -(int64_t)bytes);
}

cu_context_t *cu_memory_owner(CUdeviceptr address, size_t bytes)
{
    pthread_mutex_lock(&cu_lock);
    cu_context_t *context = holder(address);
    bool found = false;
    for (const cu_block_t *block = context ? context->blocks : NULL; block; block = block->next) {
        uint64_t offset = address - block->address;
        found = found || (offset <= block->bytes && bytes <= block->bytes - offset);
    }
    pthread_mutex_unlock(&cu_lock);
    return found ? context : NULL;
}

void cu_memory_end(cu_context_t *context)
{
    pthread_mutex_lock(&cu_lock);
    if (context->begun > 0) { /* a thread of another library reads and writes it */
        context->blocks = NULL;
        context->range = 0;
    }
    while (context->blocks) {
        remove_block(context, context->blocks->address);
    }
    if (context->range) {
        munmap((void *)context->range, context->range_bytes);
    }
    context->range = context->range_bytes = 0;
    pthread_mutex_unlock(&cu_lock);
}

CU_IN_CONTEXT(cuMemGetInfo_v2, (size_t * available, size_t *total), (available, total))
{
    CU_NEED(available && total)
    sim_memory_t memory = sim_gpu_memory(call->table, call->context->slot, call->context->mig);
    *available = (size_t)memory.free;
    *total = (size_t)(memory.total - memory.reserved);
    return CUDA_SUCCESS;
}
