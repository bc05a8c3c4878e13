/* Primary contexts and each thread's stack of contexts. */
#include "cuda_graph.h"

enum { STACK = 64 };
static _Thread_local cu_context_t *stack[STACK];
static _Thread_local int depth;
static pthread_mutex_t retain_lock = PTHREAD_MUTEX_INITIALIZER;

cu_context_t *cu_current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

bool cu_is_context(const cu_context_t *context)
{
    uintptr_t offset = (uintptr_t)context - (uintptr_t)cu_devices;
    return offset < (size_t)cu_device_count * sizeof *cu_devices && offset % sizeof *cu_devices == 0
           && context->retained > 0;
}

/* A board with NVSwitches works only after the fabric manager has registered it: 802. A GPU off the bus: 999. */
static CUresult open_context(sim_table_t *table, cu_context_t *context)
{
    const sim_gpu_t *gpu = &table->gpu[context->slot];
    bool fabric = gpu->fabric_state != SIM_NA && gpu->fabric_state != NVML_FABRIC_STATE_NOT_SUPPORTED;
    if (gpu->state == SIM_STATE_RESET_REQUIRED) {
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    }
    if (gpu->state != SIM_STATE_OK) {
        return CUDA_ERROR_UNKNOWN;
    }
    if (fabric && (gpu->fabric_state != NVML_FABRIC_STATE_COMPLETED || gpu->fabric_status != 0)) {
        return CUDA_ERROR_SYSTEM_NOT_READY;
    }
    return context->poison != CUDA_SUCCESS ? context->poison
           : gpu->cuda_result != 0         ? (CUresult)gpu->cuda_result
                                   : cu_account_open(table, context, gpu->cuda_context_bytes);
}

CU_OF_DEVICE(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), (context, device))
{
    (void)device;
    CUresult result = CUDA_SUCCESS;
    cu_context_t *wanted = call->context;
    if (!wanted) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    CU_NEED(context)
    pthread_mutex_lock(&retain_lock);
    if (wanted->retained == 0) {
        result = open_context(call->table, wanted);
    }
    if (result == CUDA_SUCCESS) {
        wanted->retained++;
        *context = wanted;
    }
    pthread_mutex_unlock(&retain_lock);
    return result;
}

/* A failed context stays failed, although released: its error ends with the process. */
static void close_context(sim_table_t *table, cu_context_t *context)
{
    cu_memory_end(context);
    pthread_mutex_lock(&cu_lock);
    cu_pending_end(context, NULL);
    cu_object_end(context);
    context->standard = (cu_stream_t){0};
    pthread_mutex_unlock(&cu_lock);
    cu_account_close(table, context);
}

CU_OF_DEVICE(cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))
{
    (void)device;
    if (!call->context) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    pthread_mutex_lock(&retain_lock);
    bool held = call->context->retained > 0;
    if (held && --call->context->retained == 0) {
        close_context(call->table, call->context);
    }
    pthread_mutex_unlock(&retain_lock);
    return held ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CU_OF_DEVICE(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned *flags, int *active),
             (device, flags, active))
{
    (void)device;
    if (!call->context) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    CU_NEED(flags && active)
    *flags = 0;
    *active = call->context->retained > 0;
    return CUDA_SUCCESS;
}

CU_ANYWHERE(cuCtxPushCurrent_v2, CU_DRIVER, (CUcontext context), (context))
{
    (void)call;
    if (!cu_is_context(context) || depth == STACK) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CU_ANYWHERE(cuCtxPopCurrent_v2, CU_DRIVER, (CUcontext * context), (context))
{
    (void)call;
    if (depth == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    depth--;
    if (context) {
        *context = stack[depth];
    }
    return CUDA_SUCCESS;
}

/* Replaces the top of the stack; NULL removes it. */
CU_ANYWHERE(cuCtxSetCurrent, CU_DRIVER, (CUcontext context), (context))
{
    (void)call;
    if (context && !cu_is_context(context)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    depth -= depth > 0;
    if (context) {
        stack[depth++] = context;
    }
    return CUDA_SUCCESS;
}

CU_ANYWHERE(cuCtxGetCurrent, CU_DRIVER, (CUcontext * context), (context))
{
    (void)call;
    CU_NEED(context)
    *context = cu_current();
    return CUDA_SUCCESS;
}

CU_ANYWHERE(cuCtxGetDevice, CU_DRIVER, (CUdevice * device), (device))
{
    (void)call;
    CU_NEED(device)
    if (!cu_current()) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *device = cu_current()->ordinal;
    return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxSynchronize(void);
CUresult cuCtxSynchronize(void)
{
    cu_call_t call;
    CUresult result = cu_enter(&call, FN_cuCtxSynchronize, CU_CURRENT, cu_current());
    if (result == CUDA_SUCCESS) {
        result = cu_capture_unsafe();
        result = result == CUDA_SUCCESS ? cu_settle(&call, NULL) : result;
        result = result == CUDA_SUCCESS ? cu_wait(&call, cu_work_end(call.context)) : result;
    }
    return cu_leave(&call, result);
}

CU_IN_CONTEXT(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags), (peer, flags))
{
    CU_NEED(flags == 0)
    if (!cu_is_context(peer) || peer == call->context) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (peer->slot == call->context->slot || peer->mig != SIM_ALL || call->context->mig != SIM_ALL) {
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    if (call->context->peer[peer->ordinal]) {
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    }
    call->context->peer[peer->ordinal] = true;
    return CUDA_SUCCESS;
}

/* After a dlclose no call could release them, and their locks would last as long as the process. */
__attribute__((destructor)) static void close_contexts(void)
{
    for (int i = 0; i < cu_device_count && !cu_forked(); i++) {
        if (cu_devices[i].retained > 0) {
            close_context(sim_table(), &cu_devices[i]);
        }
    }
    cu_account_forget();
}
