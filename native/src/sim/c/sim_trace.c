/* Names of functions, traces, and hex texts: what every simulated library needs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_functions.h"
#include "sim_state.h"

const char *sim_function_name(int function)
{
#define NAME(name) #name,
    static const char *const names[] = {"?", SIM_FUNCTIONS(NAME)};
    return names[function];
}

void sim_trace(int function, int slot, int result)
{
    static int trace = -1;
    if (trace < 0) {
        const char *wanted = getenv("GPUWARDEN_SIM_TRACE");
        trace = wanted && *wanted;
    }
    if (trace) {
        fprintf(stderr, "sim: %s gpu %d -> %d\n", sim_function_name(function), slot, result);
    }
}

void sim_parse_hex(const char *text, unsigned char bytes[16])
{
    int digits = 0;
    memset(bytes, 0, 16);
    for (; *text && digits < 32; text++) {
        int digit = *text >= '0' && *text <= '9'   ? *text - '0'
                    : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10
                    : *text >= 'A' && *text <= 'F' ? *text - 'A' + 10
                                                   : -1;
        if (digit >= 0) {
            bytes[digits / 2] = (unsigned char)(bytes[digits / 2] | digit << (digits % 2 ? 0 : 4));
            digits++;
        }
    }
}
