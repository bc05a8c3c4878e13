/* nvidia-smi: what it refuses, what a reset changes, and how one goes wrong. Its words are those of the real program. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftest.h"

static char output[4096];

static FILE *start(const test_t *test, const char *arguments)
{
    char command[PATH_MAX + 256];
    snprintf(command, sizeof command, "exec %s %s", test->smi_path, arguments);
    return popen(command, "re");
}

/* Returns its exit code; its output is in `output`. */
static int finish(FILE *program)
{
    size_t length = program ? fread(output, 1, sizeof output - 1, program) : 0;
    output[length] = '\0';
    int status = program ? pclose(program) : -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int smi(const test_t *test, const char *arguments)
{
    return finish(start(test, arguments));
}

static bool printed(const char *text)
{
    bool found = strstr(output, text) != NULL;
    if (!found) {
        fprintf(stderr, "expected \"%s\", seen \"%s\"\n", text, output);
    }
    return found;
}

/* Both GPUs without persistence mode and links, for a caller with all rights. */
static folder_t begin_smi(const test_t *test)
{
    setenv("GPUWARDEN_SIM_ROOT", "1", 1);
    for (int i = 0; i < 2; i++) {
        test->table->gpu[i].persistence = 0;
        test->table->gpu[i].nvlink_count = 0;
        test->table->gpu[i].smi_reset_us = 0;
    }
    return make_folder(test);
}

static void end_smi(const test_t *test, const folder_t *folder)
{
    remove_folder(test, folder);
    unsetenv("GPUWARDEN_SIM_ROOT");
}

void test_smi_options(test_t *test)
{
    static const struct {
        const char *arguments;
        int code;
        const char *words;
    } cases[] = {
        {"-r -i 99", 6, "No devices were found\n"},
        {"--gpu-reset -i GPU-00000000-0000-0000-0000-000000000009", 6, "No devices were found\n"},
        {"-pm 2", 2, "Invalid persistence mode: 2\nTerminating early due to previous errors.\n"},
        {"-pm", 2, "Option -pm is missing its value"},
        {"-pm on", 2, "Option on is invalid for -pm"},
        {"-r -pm 0", 2, "Only one device modification"},
        {"-r=flr", 2, "Option flr is not recognized"},
        {"-q", 2, "Option -q is not recognized"},
        {"-i 0", 2, "expects one of -L, -pm and -r"},
        {"-L -i 0", 2, "Option -i is not valid for this command"},
        {"-r -i ''", 255, "Failed to parse device string"},
        {"-L", 0, "GPU 1: Simulated GPU (UUID: GPU-00000000-0000-0000-0000-000000000001)\n"},
        {"-pm 0", 0, "Persistence mode is already Disabled for GPU 00000000:1B:00.0.\n"},
        {"-pm ENABLED -i 1c:00.0", 0, "Enabled persistence mode for GPU 00000000:1C:00.0.\nAll done.\n"},
        {"-pm 0 --id=GPU-00000000-0000-0000-0000-000000000001,77", 0, "Disabled persistence mode for GPU 00000000:1C:00.0.\n"},
        {"--gpu-reset=bus --id=00000000:1C:00.0", 0, "GPU 00000000:1C:00.0 was successfully reset.\nAll done.\n"},
        {"-r bus -i 0000:1b:00.0,1", 0, "GPU 00000000:1B:00.0 was successfully reset.\nGPU 00000000:1C:00.0 was"},
        {"-r", 0, "GPU 00000000:1C:00.0 was successfully reset.\nAll done.\n"},
    };
    folder_t folder = begin_smi(test);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EXPECT(cases[i].arguments, cases[i].code, smi(test, cases[i].arguments));
        EXPECT(cases[i].words, 1, printed(cases[i].words));
    }
    test->table->gpu[0].state = SIM_STATE_LOST;
    EXPECT("a GPU off the bus", 15, smi(test, "-r -i 0"));
    EXPECT("the other one", 0, smi(test, "-r -i 1"));
    test->table->header->init_result = 9;
    EXPECT("without a driver", 9, smi(test, "-L"));
    end_smi(test, &folder);
}

/* Drops the rights of a child; an ordinary user has none to drop. */
void test_smi_rights(test_t *test)
{
    folder_t folder = begin_smi(test);
    int status = -1;
    unsetenv("GPUWARDEN_SIM_ROOT");
    chmod(test->path, 0666);
    chmod(folder.root, 0755);
    int child = fork();
    if (child == 0) {
        int wrong = geteuid() == 0 && setuid(65534) != 0;
        wrong = wrong || smi(test, "-pm 1 -i 1") != 4
                || !printed("Unable to set persistence mode for GPU 00000000:1C:00.0: Insufficient Permissions\n");
        wrong = wrong || smi(test, "-r -i 1") != 4 || !printed("Insufficient Permissions");
        _exit(wrong);
    }
    waitpid(child, &status, 0);
    EXPECT("refused without rights", 0, status);
    EXPECT("nothing changed", 0, test->table->gpu[1].persistence);
    end_smi(test, &folder);
}

static const char *const in_use = "The following GPUs could not be reset:\n  GPU 00000000:1B:00.0: In use by another client\n\n"
                                  "1 device is currently being used by one or more other processes (e.g., Fabric Manager,";

void test_smi_refusals(test_t *test)
{
    folder_t folder = begin_smi(test);
    char path[PATH_MAX];
    int result;
    test->table->gpu[0].persistence = 1;
    test->table->gpu[0].state = SIM_STATE_RESET_REQUIRED;
    EXPECT("persistence mode", 255, smi(test, "-r -i 0"));
    EXPECT(in_use, 1, printed(in_use));
    test->table->gpu[0].persistence = 0;
    EXPECT("init", 0, CALL(nvmlInit_v2));
    EXPECT("held by NVML", 255, smi(test, "-r -i 0"));
    EXPECT(in_use, 1, printed(in_use));
    EXPECT("both", 255, smi(test, "-r"));
    EXPECT("in words", 1, printed("2 devices are currently being used"));
    EXPECT("and", 1, printed("all processes using these devices and"));
    EXPECT("not reset", SIM_STATE_RESET_REQUIRED, test->table->gpu[0].state);
    CALL(nvmlShutdown);
    EXPECT("let go", 0, smi(test, "-r -i 0"));
    EXPECT("reset", SIM_STATE_OK, test->table->gpu[0].state);
    snprintf(path, sizeof path, "%s/dev/nvidia0", folder.root);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT("open by another name", 255, smi(test, "-r"));
    EXPECT("the other GPU is reset", 1, printed("GPU 00000000:1C:00.0 was successfully reset.\nThe following GPUs"));
    close(fd);
    begin_cuda(test);
    int child = hold_in_child(test, 1, MIB, &result);
    EXPECT("child", 0, result);
    EXPECT("held by libcuda", 255, smi(test, "-r -i 1"));
    kill(child, SIGKILL);
    waitpid(child, &result, 0);
    end_smi(test, &folder);
}

void test_smi_clears(test_t *test)
{
    folder_t folder = begin_smi(test);
    sim_gpu_t *gpu = &test->table->gpu[0];
    int64_t sequence = test->table->header->sequence;
    gpu->state = SIM_STATE_RESET_REQUIRED;
    gpu->remap_pending = gpu->recovery_action = gpu->pcie_replay = 1;
    gpu->ecc_total[2] = gpu->ecc_total[3] = gpu->ecc_location[23] = gpu->ecc_location[24] = 5;
    gpu->nvlink_count = 2;
    gpu->link[1].state = 0;
    gpu->link[1].error[4] = gpu->link[1].nvl5_counter[21] = 7;
    gpu->link[2].error[0] = 7;
    test->table->gpu[1].remap_pending = 1;
    EXPECT("reset", 0, smi(test, "-r -i 0"));
    EXPECT("state", SIM_STATE_OK, gpu->state);
    EXPECT("states", 0, gpu->remap_pending + gpu->recovery_action + gpu->pcie_replay);
    EXPECT("volatile errors", 0, gpu->ecc_total[2] + gpu->ecc_location[23]);
    EXPECT("aggregate errors stay", 10, gpu->ecc_total[3] + gpu->ecc_location[24]);
    EXPECT("a link trains again", 1, gpu->link[1].state);
    EXPECT("its errors", 0, gpu->link[1].error[4] + gpu->link[1].nvl5_counter[21]);
    EXPECT("a link that is not there", 7, gpu->link[2].error[0]);
    EXPECT("a value that the part lacks", SIM_NA, gpu->drain_state);
    EXPECT("the other GPU", 1, test->table->gpu[1].remap_pending);
    EXPECT("one change", sequence + 2, test->table->header->sequence);
    end_smi(test, &folder);
}

static void link_to(sim_gpu_t *gpu, int type, const sim_gpu_t *other)
{
    gpu->nvlink_count = 1;
    gpu->link[0].state = 1;
    gpu->link[0].remote_type = type;
    gpu->link[0].remote_domain = 0;
    gpu->link[0].remote_bus = other ? other->pci_bus : 3;
}

void test_smi_units(test_t *test)
{
    folder_t folder = begin_smi(test);
    sim_gpu_t *gpu = test->table->gpu;
    link_to(&gpu[0], 0, &gpu[1]);
    gpu[0].architecture = gpu[1].architecture = 7;
    EXPECT("linked GPUs, from Ampere on", 0, smi(test, "-r -i 0"));
    gpu[0].architecture = gpu[1].architecture = 6;
    EXPECT("a part of linked GPUs", 255, smi(test, "-r -i 0"));
    EXPECT("names the rest", 1, printed("append the following device indexes to the command line and retry.\n1\n"));
    EXPECT("from the other side", 255, smi(test, "-r -i 1"));
    EXPECT("all of them", 0, smi(test, "-r -i 0,1"));
    gpu[1].persistence = 1;
    gpu[0].state = SIM_STATE_RESET_REQUIRED;
    EXPECT("one in use", 255, smi(test, "-r"));
    EXPECT("keeps the other from a reset", SIM_STATE_RESET_REQUIRED, gpu[0].state);
    gpu[1].persistence = 0;
    link_to(&gpu[0], 2, NULL);
    link_to(&gpu[1], 2, NULL);
    gpu[0].architecture = gpu[1].architecture = 7;
    EXPECT("on switches, from Ampere on", 0, smi(test, "-r -i 0"));
    gpu[1].reset_together = 1;
    EXPECT("by the board", 255, smi(test, "-r -i 0"));
    gpu[1].reset_together = 0;
    gpu[0].architecture = gpu[1].architecture = 5;
    EXPECT("on switches, before Ampere", 255, smi(test, "-r -i 1"));
    EXPECT("all of them", 0, smi(test, "-r"));
    end_smi(test, &folder);
}

void test_smi_misbehaves(test_t *test)
{
    folder_t folder = begin_smi(test);
    sim_gpu_t *gpu = &test->table->gpu[0];
    gpu->state = SIM_STATE_RESET_REQUIRED;
    gpu->smi_reset = SIM_SMI_LIE;
    EXPECT("a lie", 0, smi(test, "-r -i 0"));
    EXPECT("with the words of success", 1, printed("GPU 00000000:1B:00.0 was successfully reset.\nAll done.\n"));
    EXPECT("changes nothing", SIM_STATE_RESET_REQUIRED, gpu->state);
    gpu->smi_reset = SIM_SMI_FAIL;
    EXPECT("a failure", 255, smi(test, "-r"));
    EXPECT("beside a success", 1, printed("GPU 00000000:1C:00.0 was successfully reset.\nThe following GPUs could not be reset:\n"
                                          "  GPU 00000000:1B:00.0: Unknown Error\n\n1 device did not complete reset successfully"));
    EXPECT("changes nothing", SIM_STATE_RESET_REQUIRED, gpu->state);
    gpu->smi_reset = SIM_SMI_HANG;
    FILE *program = start(test, "-r -i 0");
    usleep(100000);
    EXPECT("a hang", SIM_STATE_RESET_REQUIRED, gpu->state);
    __atomic_store_n(&gpu->smi_reset, SIM_SMI_OK, __ATOMIC_RELEASE);
    EXPECT("goes on", 0, finish(program));
    EXPECT("and resets", SIM_STATE_OK, gpu->state);
    gpu->smi_reset = SIM_SMI_LOST;
    EXPECT("a GPU that does not come back", 255, smi(test, "-r -i 0"));
    EXPECT("is off the bus", SIM_STATE_LOST, gpu->state);
    EXPECT("its event", 79, test->table->event[0].data);
    EXPECT("for waiting clients", 1, test->table->header->event_head);
    end_smi(test, &folder);
}
