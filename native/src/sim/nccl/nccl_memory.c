/* Memory for collectives. Registration changes nothing here: it only keeps the rules of its handles. */
#include <stdlib.h>

#include "nccl_sim.h"

NC_CALL(ncclMemAlloc, -1, (void **address, size_t bytes), (address, bytes))
{
    (void)call;
    const cuda_shared_t *cuda;
    cuda_place_t place;
    NC_NEED(address, "MemAlloc", "ptr")
    NC_TRY(nc_place(-1, &place));
    NC_TRY(nc_cuda(&cuda));
    return nc_cuda_result(cuda->allocate(address, bytes));
}

NC_CALL(ncclMemFree, -1, (void *address), (address))
{
    (void)call;
    const cuda_shared_t *cuda;
    cuda_place_t place;
    NC_TRY(nc_place(-1, &place));
    NC_TRY(nc_cuda(&cuda));
    return nc_cuda_result(cuda->release(address));
}

typedef struct {
    ncclComm_t comm;
} registration_t;

static ncclResult_t registered(ncclComm_t comm, void *address, size_t bytes, void **handle)
{
    NC_TRY(nc_check_ready(comm, "CommRegister"));
    NC_NEED(handle, "CommRegister", "handle")
    int slot;
    *handle = NULL;
    if (!address || !comm->cuda->owns(comm->place.context, address, bytes, &slot)) {
        return nc_fail(ncclInvalidArgument, "CommRegister : buff %p is not a valid pointer", address);
    }
    registration_t *registration = malloc(sizeof *registration);
    if (!registration) {
        return nc_fail(ncclSystemError, "Failed to malloc %zu bytes", sizeof *registration);
    }
    registration->comm = comm;
    *handle = registration;
    return ncclSuccess;
}

/* Real ones return a NULL handle where the GPU cannot register memory; clients pass it back. */
NC_CALL(ncclCommRegister, nc_slot(comm), (const ncclComm_t comm, void *address, size_t bytes, void **handle),
        (comm, address, bytes, handle))
{
    (void)call;
    return registered(comm, address, bytes, handle);
}

NC_CALL(ncclCommDeregister, nc_slot(comm), (const ncclComm_t comm, void *handle), (comm, handle))
{
    (void)call;
    NC_TRY(nc_check(comm, "CommDeregister"));
    free(handle);
    return ncclSuccess;
}

/* A symmetric window changes no rate either. Real ones of 2.27 and later alone export this, and wait for all ranks. */
enum { SYMMETRIC = 1 };

NC_CALL(ncclCommWindowRegister, nc_slot(comm),
        (ncclComm_t comm, void *address, size_t bytes, void **window, int flags),
        (comm, address, bytes, window, flags))
{
    (void)call;
    if (nc_version() < NC_WINDOWS) {
        return nc_fail(ncclInvalidUsage, "WindowRegister : version %d has no windows", nc_version());
    }
    if (flags != 0 && flags != SYMMETRIC) {
        return nc_fail(ncclInvalidArgument, "WindowRegister : invalid flags %d", flags);
    }
    return registered(comm, address, bytes, window);
}

NC_CALL(ncclCommWindowDeregister, nc_slot(comm), (ncclComm_t comm, void *window), (comm, window))
{
    (void)call;
    NC_TRY(nc_check(comm, "WindowDeregister"));
    free(window);
    return ncclSuccess;
}
