/* Field values: one batch, each item with its own result, value type and time. */
#include <stdio.h>
#include <string.h>

#include "sim_fields.h"
#include "sim_power.h"

typedef struct {
    int64_t value; /* SIM_NA: NOT_SUPPORTED */
    unsigned type;
    nvmlReturn_t result;
} answer_t;

static int64_t at(const void *base, size_t offset, unsigned index)
{
    int64_t value;
    memcpy(&value, (const char *)base + offset + index * sizeof value, sizeof value);
    return value;
}

/* Missing links do not count; no link at all is SIM_NA. */
static int64_t sum_links(const sim_gpu_t *gpu, size_t offset, unsigned index)
{
    int64_t sum = SIM_NA;
    for (int i = 0; i < SIM_LINK_MAX; i++) {
        int64_t value = gpu->link[i].state == SIM_NA ? SIM_NA : at(&gpu->link[i], offset, index);
        if (value != SIM_NA) {
            sum = sum == SIM_NA ? value : sum + value;
        }
    }
    return sum;
}

static answer_t link_value(const sim_gpu_t *gpu, const sim_field_t *field, unsigned index,
                           unsigned link)
{
    if (link == NVML_VALUE_NOT_AVAILABLE_U32) { /* scope "all links" */
        return (answer_t){sum_links(gpu, field->offset, index), field->type, NVML_SUCCESS};
    }
    if (link >= SIM_LINK_MAX) {
        return (answer_t){SIM_NA, field->type, NVML_ERROR_INVALID_ARGUMENT};
    }
    bool there = gpu->link[link].state != SIM_NA;
    return (answer_t){there ? at(&gpu->link[link], field->offset, index) : SIM_NA, field->type,
                      NVML_SUCCESS};
}

static answer_t look_up(const sim_call_t *call, const nvmlFieldValue_t *asked)
{
    const sim_gpu_t *gpu = call->gpu;
    const sim_field_t *field = sim_find_field(asked->fieldId);
    if (asked->fieldId == 0 || asked->fieldId >= sim_field_max) {
        return (answer_t){SIM_NA, 0, NVML_ERROR_INVALID_ARGUMENT};
    }
    if (!field) {
        return (answer_t){SIM_NA, 0, NVML_SUCCESS};
    }
    unsigned index = asked->fieldId - field->first;
    switch (field->kind) {
    case SIM_FIELD_GPU:
        return (answer_t){at(gpu, field->offset, index), field->type, NVML_SUCCESS};
    case SIM_FIELD_LINK: return link_value(gpu, field, index, asked->scopeId);
    case SIM_FIELD_NUMBERED:
        return link_value(gpu, field, 0, index + field->link);
    case SIM_FIELD_SUM:
        return (answer_t){sum_links(gpu, field->offset, index), field->type, NVML_SUCCESS};
    case SIM_FIELD_RECOVERY:
        return (answer_t){gpu->recovery_action == SIM_NA ? SIM_NA
                                                         : gpu->recovery_action == field->link,
                          field->type, NVML_SUCCESS};
    default: return (answer_t){sim_energy_mj(call->table, gpu), field->type, NVML_SUCCESS};
    }
}

static void write_value(const sim_call_t *call, answer_t answer, nvmlFieldValue_t *out)
{
    unsigned long long number = sim_u64(call, answer.value);
    memset(&out->value, 0, sizeof out->value);
    switch (answer.type) {
    case NVML_VALUE_TYPE_DOUBLE: out->value.dVal = (double)answer.value; break;
    case NVML_VALUE_TYPE_UNSIGNED_INT: out->value.uiVal = (unsigned)number; break;
    case NVML_VALUE_TYPE_SIGNED_INT: out->value.siVal = (int)number; break;
    default: out->value.ullVal = number; break;
    }
    out->valueType = answer.type;
    if (call->lie == SIM_LIE_NAN) {
        out->valueType = NVML_VALUE_TYPE_DOUBLE;
        out->value.dVal = __builtin_nan("");
    } else if (call->lie == SIM_LIE_VALUE_TYPE) {
        out->valueType = 77;
    }
}

SIM_DEVICE(nvmlDeviceGetFieldValues, 0, (int count, nvmlFieldValue_t *values), (count, values))
{
    SIM_NEED(values && count > 0)
    for (int i = 0; i < count; i++) {
        nvmlFieldValue_t *out = &values[i];
        answer_t answer = look_up(call, out);
        out->timestamp = sim_now_ns(call->table) / 1000;
        out->latencyUsec = 0;
        out->nvmlReturn = answer.result != NVML_SUCCESS  ? answer.result
                          : answer.value == SIM_NA ? NVML_ERROR_NOT_SUPPORTED
                                                   : NVML_SUCCESS;
        if (out->nvmlReturn == NVML_SUCCESS) {
            write_value(call, answer, out);
        }
    }
    return NVML_SUCCESS;
}
