/* The begin and end of every call: faults, failed contexts, traces. */
#include "cuda_sim.h"

pthread_mutex_t cu_lock = PTHREAD_MUTEX_INITIALIZER;

/* Errors after which a context returns nothing else; cuda.h calls for the end of the process. */
static bool sticky(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE: return true;
    default: return false;
    }
}

CUresult cu_poison(cu_context_t *context, CUresult result)
{
    if (context->retained > 0 && context->poison == CUDA_SUCCESS) {
        context->poison = result;
    }
    return result;
}

/* A GPU off the bus: 999, as reported in public issues (proteneer/timemachine#1203). It stays so after the GPU is back. */
CUresult cu_health(const sim_table_t *table, cu_context_t *context)
{
    const sim_gpu_t *gpu = &table->gpu[context->slot];
    if (context->poison != CUDA_SUCCESS) {
        return context->poison;
    }
    if (gpu->state != SIM_STATE_OK) {
        return cu_poison(context, CUDA_ERROR_UNKNOWN);
    }
    CUresult result = (CUresult)gpu->cuda_result;
    return sticky(result) ? cu_poison(context, result) : result;
}

CUresult cu_enter(cu_call_t *call, int function, cu_need_t need, cu_context_t *context)
{
    *call = (cu_call_t){.function = function};
    if (cu_forked() || (need != CU_ALWAYS && !cu_initialised())) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    call->table = sim_table();
    call->context = context;
    if (!call->table) {
        return need == CU_ALWAYS ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
    }
    if (need == CU_CURRENT && (!context || context->retained == 0)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    CUresult result = need == CU_CURRENT ? cu_health(call->table, context) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) {
        return result;
    }
    sim_effect_t effect = sim_meet_faults(call->table, function, context ? context->slot : -1);
    if (effect.code != 0 && !effect.by_name) { /* an error of all functions has a code of NVML's */
        bool of_driver = need != CU_ALWAYS || function == FN_cuInit;
        effect.code = of_driver ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS; /* names of errors need no driver */
    }
    result = (CUresult)effect.code;
    if (result == CUDA_SUCCESS && need == CU_CURRENT) {
        result = cu_health(call->table, context); /* it may have failed during a hang */
    }
    return result;
}

CUresult cu_leave(cu_call_t *call, CUresult result)
{
    if (call->context && sticky(result)) {
        cu_poison(call->context, result);
    }
    sim_trace(call->function, call->context ? call->context->slot : -1, (int)result);
    return result;
}
