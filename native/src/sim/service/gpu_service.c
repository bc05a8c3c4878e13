/*
 * gpu-service NAME: uses all GPUs of a simulated node through its NVML, as a service of a GPU operator does, until SIGTERM. For clusters
 * of tests: it holds the files of the GPUs, so that none can be reset. It holds a lock on `../run/service-NAME` as long.
 *
 * Exit codes: 0 after SIGTERM, 1 without a driver that works, 2 for wrong arguments.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_GPUS 64

typedef int (*call_t)();

static char node[PATH_MAX];

/* The folder of the node whose folder `bin` has this program. */
static int find_node(void)
{
    char program[PATH_MAX] = "";
    if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0) {
        return 0;
    }
    return snprintf(node, sizeof node, "%s/..", dirname(program)) < (int)sizeof node;
}

static int lock(const char *name)
{
    char path[PATH_MAX + 64];
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    snprintf(path, sizeof path, "%s/run/service-%.40s", node, name);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return file >= 0 && fcntl(file, F_SETLKW, &whole) == 0;
}

static int failed(const char *what, int result)
{
    fprintf(stderr, "gpu-service: %s: expected 0, seen %d\n", what, result);
    return 1;
}

/* Reads the temperatures each second until the signal. */
static int serve(void *driver, const char *name, const sigset_t *end)
{
    void *gpu[MOST_GPUS];
    unsigned count = 0, temperature;
    call_t handle = (call_t)dlsym(driver, "nvmlDeviceGetHandleByIndex_v2");
    call_t read = (call_t)dlsym(driver, "nvmlDeviceGetTemperature");
    call_t start = (call_t)dlsym(driver, "nvmlInit_v2"), stop = (call_t)dlsym(driver, "nvmlShutdown");
    call_t get_count = (call_t)dlsym(driver, "nvmlDeviceGetCount_v2");
    int result = start();
    if (result != 0 || (result = get_count(&count)) != 0) {
        return failed("NVML", result);
    }
    for (unsigned i = 0; i < count && i < MOST_GPUS; i++) {
        if (handle(i, &gpu[i]) != 0) {
            gpu[i] = NULL; /* it is off the bus; a service goes on with the others */
        }
    }
    printf("%s uses %u GPUs\n", name, count);
    fflush(stdout);
    struct timespec second = {1, 0};
    while (sigtimedwait(end, NULL, &second) < 0) {
        for (unsigned i = 0; i < count && i < MOST_GPUS; i++) {
            if (gpu[i]) {
                (void)read(gpu[i], 0, &temperature);
            }
        }
    }
    return stop();
}

int main(int count, char **arguments)
{
    char library[PATH_MAX + 64];
    sigset_t end;
    if (count != 2 || strchr(arguments[1], '/')) {
        fprintf(stderr, "gpu-service: expected a name\n");
        return 2;
    }
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    sigprocmask(SIG_BLOCK, &end, NULL);
    if (!find_node() || !lock(arguments[1])) {
        return failed("the node's folder `run`, to write to", -1);
    }
    snprintf(library, sizeof library, "%s/lib/libnvidia-ml.so.1", node);
    void *driver = dlopen(library, RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "gpu-service: %s\n", dlerror());
        return 1;
    }
    return serve(driver, arguments[1], &end);
}
