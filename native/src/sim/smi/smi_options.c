/* Arguments. The real program ends with 255 for some of these errors; here each is 2, as nvidia-smi(1) defines it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "smi.h"

typedef struct {
    const char *name, *long_name;
    enum { NO_VALUE, VALUE, MAYBE_VALUE } value;
    smi_action_t action; /* NONE: it does not name an action */
} option_t;

static const option_t options[] = {
    {"-L", "--list-gpus", NO_VALUE, SMI_LIST},
    {"-pm", "--persistence-mode", VALUE, SMI_PERSISTENCE},
    {"-r", "--gpu-reset", MAYBE_VALUE, SMI_RESET},
    {"-i", "--id", VALUE, SMI_NONE},
};

static int refuse(const char *format, const char *option, const char *other)
{
    printf(format, option, other);
    printf("\n");
    return SMI_INVALID;
}

static bool names(const char *argument, const char *name)
{
    size_t length = strlen(name);
    return strncmp(argument, name, length) == 0 && (argument[length] == '\0' || argument[length] == '=');
}

static const option_t *find(const char *argument)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (names(argument, options[i].name) || names(argument, options[i].long_name)) {
            return &options[i];
        }
    }
    return NULL;
}

static int read_persistence(const char *option, const char *value, smi_order_t *order)
{
    char *end;
    long number = strtol(value, &end, 10);
    bool named = strcasecmp(value, "ENABLED") == 0 || strcasecmp(value, "DISABLED") == 0;
    if (!named && (!isdigit((unsigned char)*value) || *end)) {
        return refuse("ERROR: Option %s is invalid for %s. Please run 'nvidia-smi -h' for help.\n", value, option);
    }
    if (!named && number > 1) {
        printf("Invalid persistence mode: %s\nTerminating early due to previous errors.\n", value);
        return SMI_INVALID;
    }
    order->persistence = named ? strcasecmp(value, "ENABLED") == 0 : (int)number;
    return SMI_SUCCESS;
}

static int take(const option_t *option, const char *name, const char *value, smi_order_t *order)
{
    if (option->action != SMI_NONE && order->action != SMI_NONE) {
        return refuse("Invalid combination of input arguments. Only one device modification may be done at a time.\n",
                      "", "");
    }
    order->action = option->action != SMI_NONE ? option->action : order->action;
    if (option->action == SMI_PERSISTENCE) {
        return read_persistence(name, value, order);
    }
    if (option->action == SMI_RESET && value && strcmp(value, "bus") != 0) {
        return refuse("ERROR: Option %s is not recognized. Please run 'nvidia-smi -h' for help.\n", value, "");
    }
    if (option->action == SMI_NONE) {
        order->ids = value;
    }
    return SMI_SUCCESS;
}

static int check(const smi_order_t *order)
{
    if (order->action == SMI_NONE) {
        printf("ERROR: This simulated nvidia-smi expects one of -L, -pm and -r; it has no screen and no queries.\n\n");
        return SMI_INVALID;
    }
    if (order->action == SMI_LIST && order->ids) {
        return refuse("ERROR: Option %s is not valid for this command. Please run 'nvidia-smi -h' for help.\n", "-i", "");
    }
    return SMI_SUCCESS;
}

int smi_read(int count, char **arguments, smi_order_t *order)
{
    int code = SMI_SUCCESS;
    for (int i = 1; i < count && code == SMI_SUCCESS; i++) {
        char *name = arguments[i];
        const option_t *option = find(name);
        char *value = strchr(name, '=');
        if (!option || (value && option->value == NO_VALUE)) {
            return refuse("ERROR: Option %s is not recognized. This simulated nvidia-smi has -L, -pm, -r and -i.\n", name, "");
        }
        if (value) {
            *value++ = '\0';
        } else if (option->value != NO_VALUE && i + 1 < count && (option->value == VALUE || arguments[i + 1][0] != '-')) {
            value = arguments[++i];
        }
        if (!value && option->value == VALUE) {
            return refuse("ERROR: Option %s is missing its value. Please run 'nvidia-smi -h' for help.\n", name, "");
        }
        code = take(option, name, value, order);
    }
    return code != SMI_SUCCESS ? code : check(order);
}
