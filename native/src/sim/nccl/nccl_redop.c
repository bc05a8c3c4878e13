/* Operators that multiply each input before the sum. */
#include <stdlib.h>

#include "nccl_sim.h"

NC_CALL(ncclRedOpCreatePreMulSum, nc_slot(comm),
        (ncclRedOp_t * op, void *scalar, ncclDataType_t type, ncclScalarResidence_t residence, ncclComm_t comm),
        (op, scalar, type, residence, comm))
{
    (void)call;
    NC_TRY(nc_check_ready(comm, "ncclRedOpCreatePreMulSum"));
    NC_NEED(op, "ncclRedOpCreatePreMulSum", "op")
    NC_NEED(scalar, "ncclRedOpCreatePreMulSum", "scalar")
    if ((int)type < 0 || nc_type_bytes(type) == 0) {
        return nc_fail(ncclInvalidArgument, "ncclRedOpCreatePreMulSum : invalid type %d", (int)type);
    }
    nc_reduction_t created = {.type = type, .op = ncclSum, .scaled = true, .divisor = 1};
    if (residence == ncclScalarHostImmediate) {
        nc_read_scalar(&created, scalar);
    } else {
        created.scalar = scalar;
    }
    comm->reductions = comm->reductions ? comm->reductions : calloc(NC_REDUCTIONS_MAX, sizeof created);
    for (int i = 0; comm->reductions && i < NC_REDUCTIONS_MAX; i++) {
        if (!comm->reduction_used[i]) {
            comm->reductions[i] = created;
            comm->reduction_used[i] = true;
            *op = (ncclRedOp_t)(ncclNumOps + i);
            return ncclSuccess;
        }
    }
    return nc_fail(ncclInternalError, "ncclRedOpCreatePreMulSum : more than %d operators", NC_REDUCTIONS_MAX);
}

NC_CALL(ncclRedOpDestroy, nc_slot(comm), (ncclRedOp_t op, ncclComm_t comm), (op, comm))
{
    (void)call;
    int place = (int)op - ncclNumOps;
    if ((int)op >= 0 && (int)op < ncclNumOps) {
        return nc_fail(ncclInvalidArgument, "ncclRedOpDestroy : operator is a NCCL builtin.");
    }
    if (place < 0) {
        return nc_fail(ncclInvalidArgument, "ncclRedOpDestroy :  operator is garbage.");
    }
    if (nc_slot(comm) < 0) {
        return nc_fail(ncclInvalidArgument, "ncclRedOpDestroy : invalid communicator passed.");
    }
    if (place >= NC_REDUCTIONS_MAX || !comm->reduction_used[place]) {
        return nc_fail(ncclInvalidArgument, "ncclRedOpDestroy : operator unknown to this communicator.");
    }
    comm->reduction_used[place] = false;
    return ncclSuccess;
}
