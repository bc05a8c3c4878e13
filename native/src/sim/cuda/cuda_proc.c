/* Functions by name, as the CUDA runtime finds them. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cuda_sim.h"

#define SIM_FUNCTION_NAME(name) #name,
static const char *const names[] = {SIM_FUNCTIONS(SIM_FUNCTION_NAME)};

/* This library's own functions alone: dlsym would also search the libraries it depends on. */
static bool exported(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(names[i], "cu", 2) == 0 && strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Clients ask for the name without its version and mean the newest. */
static void *find(const char *symbol)
{
    char name[128];
    Dl_info self;
    void *library = dladdr(names, &self) ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *found = NULL;
    for (int version = 2; library && !found && version > 0; version--) {
        int length = snprintf(name, sizeof name, version > 1 ? "%s_v%d" : "%s", symbol, version);
        if (length > 0 && length < (int)sizeof name && exported(name)) {
            found = dlsym(library, name);
        }
    }
    if (library) {
        dlclose(library);
    }
    return found;
}

static CUresult look_up(const char *symbol, void **address)
{
    CU_NEED(symbol && address)
    *address = find(symbol);
    return *address ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CU_ANYWHERE(cuGetProcAddress, CU_ALWAYS,
            (const char *symbol, void **address, int version, uint64_t flags),
            (symbol, address, version, flags))
{
    (void)call, (void)version, (void)flags;
    return look_up(symbol, address);
}

CU_ANYWHERE(cuGetProcAddress_v2, CU_ALWAYS,
            (const char *symbol, void **address, int version, uint64_t flags,
             CUdriverProcAddressQueryResult *status),
            (symbol, address, version, flags, status))
{
    (void)call, (void)version, (void)flags;
    CUresult result = look_up(symbol, address);
    if (status) {
        *status = result == CUDA_SUCCESS ? CU_GET_PROC_ADDRESS_SUCCESS
                                         : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return result;
}
