/* Handles: each context owns a list of them, so that a wrong one is an error and not a crash. */
#include <stdlib.h>

#include "cuda_graph.h"

void *cu_object_add(cu_context_t *context, cu_kind_t kind, size_t bytes)
{
    cu_object_t *object = calloc(1, bytes);
    if (object) {
        object->kind = kind;
        object->next = context->objects;
        context->objects = object;
    }
    return object;
}

bool cu_object_remove(cu_context_t *context, cu_kind_t kind, const void *handle)
{
    for (cu_object_t **at = &context->objects; *at; at = &(*at)->next) {
        cu_object_t *object = *at;
        if (object == handle && object->kind == kind) {
            *at = object->next;
            cu_graph_end(object);
            free(object);
            return true;
        }
    }
    return false;
}

cu_context_t *cu_object_owner(cu_kind_t kind, const void *handle)
{
    for (int i = 0; i < cu_device_count; i++) {
        for (cu_object_t *object = cu_devices[i].objects; object; object = object->next) {
            if (object == handle && object->kind == kind) {
                return &cu_devices[i];
            }
        }
    }
    return NULL;
}

void cu_object_end(cu_context_t *context)
{
    while (context->objects) {
        cu_object_t *next = context->objects->next;
        cu_graph_end(context->objects);
        free(context->objects);
        context->objects = next;
    }
}

CUresult cu_call_about(cu_call_t *call, cu_kind_t kind, const void *handle)
{
    cu_context_t *owner = cu_object_owner(kind, handle);
    if (!owner) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    call->context = owner;
    return cu_health(call->table, owner);
}

cu_stream_t *cu_stream(cu_call_t *call, CUstream handle)
{
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
        return &call->context->standard;
    }
    return cu_object_owner(CU_IS_STREAM, handle) == call->context ? handle : NULL;
}
