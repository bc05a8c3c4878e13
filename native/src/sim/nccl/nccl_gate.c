/* The begin and end of every call: planned faults, traces, error texts. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nccl_sim.h"

enum { TEXT = 1024 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char last[TEXT]; /* of the process, as in the real library */

ncclResult_t nc_fail(ncclResult_t result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&lock);
    vsnprintf(last, sizeof last, format, arguments);
    pthread_mutex_unlock(&lock);
    va_end(arguments);
    return result;
}

int nc_version(void)
{
    const sim_table_t *table = sim_table();
    bool known = table && table->header->nccl_version != SIM_NA;
    return known ? (int)table->header->nccl_version : NC_VERSION;
}

ncclResult_t nc_enter(nc_call_t *call, int function, int slot)
{
    *call = (nc_call_t){sim_table(), function, slot};
    if (!call->table) {
        return ncclSuccess;
    }
    sim_effect_t effect = sim_meet_faults(call->table, function, slot);
    if (effect.code == 0) {
        return ncclSuccess;
    }
    /* An error of all functions has a code of NVML's. It is the driver's, and the version needs no driver. */
    if (!effect.by_name) {
        return function == FN_ncclGetVersion ? ncclSuccess : nc_cuda_result(CUDA_ERROR_UNKNOWN);
    }
    ncclResult_t result = (ncclResult_t)effect.code;
    return result == ncclInProgress ? result : nc_fail(result, "%s : planned error", sim_function_name(function));
}

ncclResult_t nc_leave(const nc_call_t *call, ncclResult_t result)
{
    sim_trace(call->function, call->slot, (int)result);
    return result;
}

NC_CALL(ncclGetVersion, -1, (int *version), (version))
{
    (void)call;
    if (!version) {
        return ncclInvalidArgument;
    }
    *version = nc_version();
    return ncclSuccess;
}

SIM_EXPORT const char *ncclGetErrorString(ncclResult_t result);
SIM_EXPORT const char *pncclGetErrorString(ncclResult_t result) __attribute__((alias("ncclGetErrorString")));
const char *ncclGetErrorString(ncclResult_t result)
{
    switch (result) {
#define TEXT_OF(name, number, text) \
    case name: return text;
        NCCL_RESULTS(TEXT_OF)
    default: return "unknown result code";
    }
}

/* The text stays as it is for the calling thread until its next call of this function. */
SIM_EXPORT const char *ncclGetLastError(ncclComm_t comm);
SIM_EXPORT const char *pncclGetLastError(ncclComm_t comm) __attribute__((alias("ncclGetLastError")));
const char *ncclGetLastError(ncclComm_t comm)
{
    static _Thread_local char copy[TEXT];
    (void)comm; /* as in the real one */
    pthread_mutex_lock(&lock);
    memcpy(copy, last, sizeof copy);
    pthread_mutex_unlock(&lock);
    return copy;
}
