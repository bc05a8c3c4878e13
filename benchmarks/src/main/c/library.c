#include "library.h"

#include <dlfcn.h>
#include <stddef.h>

#define DEFINE(name, arguments) nvmlReturn_t(*name) arguments;
FUNCTIONS(DEFINE)
START_FUNCTIONS(DEFINE)
#undef DEFINE

const char *load_functions(const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return dlerror();
    }
    /* POSIX has dlsym give functions as void *, which ISO C does not convert: hence the detour over memory. */
#define LOAD(name, arguments) *(void **)&name = dlsym(handle, "nvml" #name);
    FUNCTIONS(LOAD)
    START_FUNCTIONS(LOAD)
#undef LOAD
    if (DeviceGetCount_v2 == NULL || DeviceGetHandleByIndex_v2 == NULL || (Init_v2 == NULL && InitWithFlags == NULL)) {
        return "no functions to start it and to find devices";
    }
    return NULL;
}

nvmlReturn_t start_driver(void) {
    return InitWithFlags != NULL ? InitWithFlags(NVML_INIT_FLAG_NO_GPUS) : Init_v2();
}
