/* The exported starts of communicators. */
#include <stdlib.h>
#include <string.h>

#include "nccl_sim.h"

/* The order of the checks is that of the real one: the driver comes first. */
static ncclResult_t start(const char *subject, ncclComm_t *out, int count, const ncclUniqueId *id, int rank,
                          const cuda_place_t *place, const ncclConfig_t *config)
{
    NC_NEED(out, subject, "newcomm")
    *out = NULL;
    NC_TRY(nc_check_config(config));
    if (count < 1 || count > NC_RANKS_MAX || rank < 0 || rank >= count) {
        return nc_fail(ncclInvalidArgument, "Invalid rank requested : %d/%d", rank, count);
    }
    nc_start_t job = {nc_comm_new(rank, count, place, config), *id, out};
    return job.comm ? nc_start(&job) : nc_fail(ncclSystemError, "Failed to malloc");
}

/* A planned fault of one GPU meets the calls on its device. */
static ncclResult_t start_here(int function, ncclComm_t *out, int count, const ncclUniqueId *id, int rank,
                               const ncclConfig_t *config)
{
    cuda_place_t place = {.slot = -1};
    nc_call_t call = {.function = function, .slot = -1};
    ncclResult_t result = nc_place(-1, &place);
    result = result == ncclSuccess ? nc_enter(&call, function, place.slot) : result;
    result = result == ncclSuccess ? start("CommInitRank", out, count, id, rank, &place, config) : result;
    return nc_leave(&call, nc_group_error(result));
}

SIM_EXPORT ncclResult_t ncclCommInitRank(ncclComm_t *comm, int count, ncclUniqueId id, int rank);
SIM_EXPORT ncclResult_t pncclCommInitRank(ncclComm_t *comm, int count, ncclUniqueId id, int rank)
    __attribute__((alias("ncclCommInitRank")));
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int count, ncclUniqueId id, int rank)
{
    return start_here(FN_ncclCommInitRank, comm, count, &id, rank, NULL);
}

SIM_EXPORT ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int count, ncclUniqueId id, int rank, ncclConfig_t *config);
SIM_EXPORT ncclResult_t pncclCommInitRankConfig(ncclComm_t *comm, int count, ncclUniqueId id, int rank, ncclConfig_t *config)
    __attribute__((alias("ncclCommInitRankConfig")));
ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int count, ncclUniqueId id, int rank, ncclConfig_t *config)
{
    return start_here(FN_ncclCommInitRankConfig, comm, count, &id, rank, config);
}

static ncclResult_t check_devices(int count, const int *devices)
{
    for (int i = 0; i < count && devices; i++) {
        for (int j = 0; j < i; j++) {
            if (devices[i] == devices[j]) {
                return nc_fail(ncclInvalidUsage, "Duplicate GPU detected : device %d", devices[i]);
            }
        }
    }
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id);

/* The ranks start together at the end of the group, each in a thread of its own. */
static ncclResult_t start_each(ncclComm_t *comms, int count, const int *devices)
{
    ncclUniqueId id;
    NC_TRY(ncclGetUniqueId(&id));
    NC_TRY(nc_group_begin());
    ncclResult_t result = ncclSuccess;
    for (int i = 0; i < count && result == ncclSuccess; i++) {
        cuda_place_t place;
        int device = devices ? devices[i] : i;
        result = device < 0 ? nc_cuda_result(CUDA_ERROR_INVALID_DEVICE) : nc_place(device, &place);
        result = result == ncclSuccess ? start("CommInitAll", &comms[i], count, &id, i, &place, NULL) : result;
    }
    nc_group_error(result);
    ncclResult_t ended = nc_group_end();
    return result != ncclSuccess ? result : ended;
}

NC_CALL(ncclCommInitAll, -1, (ncclComm_t * comms, int count, const int *devices), (comms, count, devices))
{
    (void)call;
    if (count < 0 || count > NC_RANKS_MAX) {
        return nc_fail(ncclInvalidArgument, "Invalid device count requested : %d", count);
    }
    cuda_place_t place;
    NC_TRY(nc_place(-1, &place));
    NC_NEED(comms, "CommInitAll", "comms")
    NC_TRY(check_devices(count, devices));
    return count > 0 ? start_each(comms, count, devices) : ncclSuccess;
}
