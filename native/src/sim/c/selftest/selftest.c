/*
 * Proves the simulated drivers' protocol.
 *   selftest SIM_DIRECTORY SYMBOLS_DIRECTORY [library=]generation...
 * "550=470" runs the expectations of 550 against the library of 470: it must fail, and `make check`
 * uses that to show that this test can.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftest.h"
#include "table_defaults.h"

static const char *current_generation, *current_case;
static int failures;

void expect(const char *file, int line, const char *subject, long long expected, long long seen)
{
    if (expected != seen) {
        failures++;
        fprintf(stderr, "%s, %s: %s: expected %lld, seen %lld (%s:%d)\n", current_generation,
                current_case, subject, expected, seen, strrchr(file, '/') + 1, line);
    }
}

static nvmlReturn_t absent()
{
    return NVML_ERROR_FUNCTION_NOT_FOUND;
}

call_t find(const test_t *test, const char *name)
{
    void *address = dlsym(test->library, name);
    call_t call = absent;
    if (address) {
        memcpy(&call, &address, sizeof call);
    }
    return call;
}

bool has(const test_t *test, const char *function)
{
    return dlsym(test->library, function) != NULL;
}

bool is(const test_t *test, const char *generation)
{
    return strcmp(test->generation, generation) == 0;
}

void begin(test_t *test)
{
    EXPECT("nvmlInit_v2", 0, CALL(nvmlInit_v2));
    EXPECT("nvmlDeviceGetHandleByIndex_v2", 0, CALL(nvmlDeviceGetHandleByIndex_v2, 0, &test->gpu));
}

/* ---- the table --------------------------------------------------------------------------- */

void add_process(const test_t *test, int gpu, int pid, int64_t bytes, int type)
{
    sim_process_t *process = &test->table->process[test->table->header->process_count++];
    process->gpu = gpu;
    process->pid = pid;
    process->bytes = bytes;
    process->type = type;
}

static void fill(sim_table_t *table)
{
    default_table(table);
    table->header->gpu_count = 2;
    for (int g = 0; g < 2; g++) {
        sim_gpu_t *gpu = &table->gpu[g];
        snprintf(gpu->name, sizeof gpu->name, "Simulated GPU");
        snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-00000000-0000-0000-0000-00000000000%d", g);
        snprintf(gpu->serial, sizeof gpu->serial, "serial-%d", g);
        gpu->pci_bus = 0x1b + g;
        gpu->minor = g;
        gpu->mem_total = 80 << 10;
        gpu->mem_reserved = 1 << 10;
        gpu->mem_used = 2 << 10;
        gpu->temp_gpu = 40 + g;
        gpu->temp_memory = 50;
        gpu->util_gpu = 30;
        gpu->events_supported = 0x1f;
        gpu->fabric_state = 3;
        gpu->link[0].state = 1;
        gpu->nvlink_count = 1;
        gpu->mig_current = 0;
    }
}

static void in_folder(char path[128], const folder_t *folder, const char *name)
{
    snprintf(path, 128, "%s/%s", folder->root, name);
}

static const char *const folders[] = {"lib", "dev"};

folder_t make_folder(const test_t *test)
{
    folder_t folder = {"/tmp/gpuwarden-node-XXXXXX"};
    char path[128], other[128];
    bool made = mkdtemp(folder.root) != NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        in_folder(path, &folder, folders[i]);
        made = made && mkdir(path, 0755) == 0;
    }
    for (char gpu[] = "nvidia0"; gpu[6] < '2'; gpu[6]++) {
        snprintf(path, sizeof path, "%s/lib/%s", folder.root, gpu);
        snprintf(other, sizeof other, "%s/dev/%s", folder.root, gpu);
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        made = made && fd >= 0 && close(fd) == 0 && link(path, other) == 0;
    }
    in_folder(path, &folder, "lib/gpuwarden-sim.table");
    EXPECT("folder of a node", 1, made && link(test->path, path) == 0);
    setenv("GPUWARDEN_SIM", path, 1);
    return folder;
}

void remove_folder(const test_t *test, const folder_t *folder)
{
    char path[128];
    static const char *const files[] = {"lib/nvidia0", "lib/nvidia1", "dev/nvidia0", "dev/nvidia1", "lib/gpuwarden-sim.table"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        in_folder(path, folder, files[i]);
        unlink(path);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        in_folder(path, folder, folders[i]);
        rmdir(path);
    }
    EXPECT("an empty folder", 0, rmdir(folder->root));
    setenv("GPUWARDEN_SIM", test->path, 1);
}

typedef void (*case_t)(test_t *);

static void run(test_t *test, const char *name, case_t body, const char *library)
{
    current_case = name;
    char path[] = "/tmp/gpuwarden-sim-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || ftruncate(fd, sizeof(sim_table_t)) != 0) {
        perror(path);
        exit(2);
    }
    test->path = path;
    test->table = mmap(NULL, sizeof(sim_table_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    fill(test->table);
    setenv("GPUWARDEN_SIM", path, 1);
    test->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    EXPECT(library, 1, test->library != NULL);
    if (test->library) {
        body(test);
        if (test->cuda) {
            dlclose(test->cuda);
            test->cuda = NULL;
        }
        dlclose(test->library); /* really unloads: each case starts with a fresh library */
    }
    munmap(test->table, sizeof(sim_table_t));
    close(fd);
    unlink(path);
}

static int run_generation(const char *sim, const char *symbols, const char *generation,
                          const char *library_generation)
{
    char library[4096], list[4096], cuda[4096], smi[4096];
    snprintf(smi, sizeof smi, "%s/nvidia-smi", sim);
    snprintf(cuda, sizeof cuda, "%s/libcuda.so.1", sim);
    snprintf(library, sizeof library, "%s/%s/libnvidia-ml.so.1", sim, library_generation);
    snprintf(list, sizeof list, "%s/%s.txt", symbols, generation);
    current_generation = generation;
    test_t test = {.generation = generation, .symbols = list, .cuda_path = cuda, .smi_path = smi};
    static const struct {
        const char *name;
        case_t body;
    } cases[] = {
        {"start", test_start},         {"symbols", test_symbols}, {"values", test_values},
        {"states", test_states},       {"fields", test_fields},   {"MIG", test_mig},
        {"processes", test_processes}, {"events", test_events},   {"faults", test_faults},
        {"consistency", test_consistency},
        {"MIG profiles", test_mig_profiles}, {"MIG instances", test_mig_instances},
        {"topology", test_topology},   {"node", test_node},
        {"CUDA devices", test_cuda_devices}, {"CUDA visible devices", test_cuda_visible},
        {"CUDA account", test_cuda_account}, {"limits of memory", test_limits}, {"CUDA processes", test_cuda_processes},
        {"CUDA in MIG mode", test_cuda_mig}, {"CUDA race", test_cuda_race},
        {"CUDA copies", test_cuda_copies},   {"CUDA rates", test_cuda_rates},
        {"CUDA threads", test_cuda_threads}, {"CUDA waits", test_cuda_waits},     {"CUDA faults", test_cuda_faults},
        {"CUDA failures", test_cuda_failures}, {"CUDA fork", test_cuda_fork},
        {"CUDA modules", test_cuda_modules}, {"CUDA kernels", test_cuda_kernels},
        {"CUDA graphs", test_cuda_graphs},
        {"files held by NVML", test_held_by_nvml}, {"files held without attaching", test_held_without_attaching},
        {"files held by CUDA", test_held_by_cuda}, {"files held elsewhere", test_held_elsewhere},
        {"files held in a container", test_held_in_container},
        {"nvidia-smi options", test_smi_options}, {"nvidia-smi rights", test_smi_rights},
        {"nvidia-smi refusals", test_smi_refusals}, {"nvidia-smi reset", test_smi_clears},
        {"nvidia-smi linked GPUs", test_smi_units}, {"nvidia-smi misbehaviour", test_smi_misbehaves},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(&test, cases[i].name, cases[i].body, library);
    }
    return failures;
}

int main(int count, char **arguments)
{
    int failed = 0;
    for (int i = 3; i < count; i++) {
        char *expected = strdup(arguments[i]);
        char *library = strchr(expected, '=');
        library = library ? (*library = '\0', library + 1) : expected;
        if (run_generation(arguments[1], arguments[2], expected, library) > 0) {
            failed++;
        }
        failures = 0;
        free(expected);
    }
    if (failed == 0) {
        printf("simulated drivers: %d generations hold their protocol\n", count - 3);
    }
    return failed > 0;
}
