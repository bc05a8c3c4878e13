/* Files of GPUs: which calls open them, which close them, and that the kernel does at the end of a process. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftest.h"

/* The number of descriptors with which a process has the file of a GPU open. */
static int holds(const folder_t *folder, int pid, int gpu)
{
    char path[PATH_MAX];
    struct stat file, open_file;
    int count = 0;
    snprintf(path, sizeof path, "%s/dev/nvidia%d", folder->root, gpu);
    EXPECT(path, 0, stat(path, &file));
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *fds = opendir(path);
    for (struct dirent *entry; fds && (entry = readdir(fds));) {
        count += fstatat(dirfd(fds), entry->d_name, &open_file, 0) == 0 && open_file.st_dev == file.st_dev
                 && open_file.st_ino == file.st_ino;
    }
    if (fds) {
        closedir(fds);
    }
    return count;
}

void test_held_by_nvml(test_t *test)
{
    folder_t folder = make_folder(test);
    nvmlDevice_t device;
    test->table->gpu[0].minor = 1; /* the files follow minor numbers, not indices */
    test->table->gpu[1].minor = 0;
    EXPECT("before init", 0, holds(&folder, getpid(), 0));
    EXPECT("init", 0, CALL(nvmlInit_v2));
    EXPECT("second init", 0, CALL(nvmlInit_v2));
    EXPECT("init opens the file of every GPU", 1, holds(&folder, getpid(), 0));
    EXPECT("and of the other", 1, holds(&folder, getpid(), 1));
    EXPECT("handle", 0, CALL(nvmlDeviceGetHandleByIndex_v2, 0, &device));
    EXPECT("the same handle", 0, CALL(nvmlDeviceGetHandleByIndex_v2, 0, &device));
    EXPECT("a handle opens it again", 3, holds(&folder, getpid(), 1));
    EXPECT("of its GPU alone", 1, holds(&folder, getpid(), 0));
    EXPECT("first shutdown", 0, CALL(nvmlShutdown));
    EXPECT("closes nothing", 3, holds(&folder, getpid(), 1));
    EXPECT("last shutdown", 0, CALL(nvmlShutdown));
    EXPECT("closes all", 0, holds(&folder, getpid(), 0) + holds(&folder, getpid(), 1));
    test->table->gpu[0].state = SIM_STATE_LOST;
    EXPECT("init with a lost GPU", 0, CALL(nvmlInit_v2));
    EXPECT("whose file cannot be opened", 0, holds(&folder, getpid(), 1));
    EXPECT("handle of a lost GPU", 15, CALL(nvmlDeviceGetHandleByIndex_v2, 0, &device));
    EXPECT("neither", 0, holds(&folder, getpid(), 1));
    EXPECT("the other GPU", 1, holds(&folder, getpid(), 0));
    CALL(nvmlShutdown);
    remove_folder(test, &folder);
}

void test_held_in_container(test_t *test)
{
    static const struct {
        const char *visible;
        int first, second;
    } cases[] = {{"", 1, 1}, {"all", 1, 1}, {"void", 0, 0}, {"1", 0, 1}, {"GPU-00000000-0000-0000-0000-000000000000", 1, 0},
                 {"GPU-00000000-0000-0000-0000-000000000001,0", 1, 1}};
    folder_t folder = make_folder(test);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("NVIDIA_VISIBLE_DEVICES", cases[i].visible, 1);
        EXPECT("init", 0, CALL(nvmlInit_v2));
        EXPECT(cases[i].visible, cases[i].first, holds(&folder, getpid(), 0));
        EXPECT(cases[i].visible, cases[i].second, holds(&folder, getpid(), 1));
        CALL(nvmlShutdown);
    }
    unsetenv("NVIDIA_VISIBLE_DEVICES");
    remove_folder(test, &folder);
}

void test_held_without_attaching(test_t *test)
{
    folder_t folder = make_folder(test);
    nvmlDevice_t device;
    unsigned count = 9;
    CALL(nvmlShutdown);
    EXPECT("init", 0, CALL(nvmlInitWithFlags, NVML_INIT_FLAG_NO_ATTACH));
    EXPECT("opens no file", 0, holds(&folder, getpid(), 0) + holds(&folder, getpid(), 1));
    EXPECT("counts", 0, CALL(nvmlDeviceGetCount_v2, &count));
    EXPECT("none", 0, (int)count);
    EXPECT("by index", NVML_ERROR_INVALID_ARGUMENT, CALL(nvmlDeviceGetHandleByIndex_v2, 0, &device));
    EXPECT("by PCI address", NVML_ERROR_NOT_FOUND, CALL(nvmlDeviceGetHandleByPciBusId_v2, "0000:1c:00.0", &device));
    EXPECT("by UUID", NVML_ERROR_NOT_FOUND, CALL(nvmlDeviceGetHandleByUUID, test->table->gpu[1].uuid, &device));
    CALL(nvmlShutdown);
    remove_folder(test, &folder);
}

void test_held_by_cuda(test_t *test)
{
    folder_t folder = make_folder(test);
    int result;
    begin(test); /* in this process; the child has libcuda's files and a copy of these */
    CALL(nvmlShutdown);
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    begin_cuda(test);
    int child = hold_in_child(test, 0, MIB, &result);
    EXPECT("child", 0, result);
    EXPECT("holds the visible GPU", 1, holds(&folder, child, 1));
    EXPECT("and no other", 0, holds(&folder, child, 0));
    use_cuda(test, 0);
    EXPECT("release", 0, CUDA(cuDevicePrimaryCtxRelease_v2, 0));
    EXPECT("does not close it", 1, holds(&folder, getpid(), 1));
    kill(child, SIGKILL);
    waitpid(child, &result, 0);
    unsetenv("CUDA_VISIBLE_DEVICES");
    remove_folder(test, &folder);
}

/* A daemon may close all its descriptors; what it opens then has the numbers of the GPUs' files. */
void test_held_elsewhere(test_t *test)
{
    folder_t folder = make_folder(test);
    char path[PATH_MAX];
    EXPECT("init", 0, CALL(nvmlInit_v2));
    for (int fd = 3; fd < 256; fd++) {
        struct stat status, file;
        snprintf(path, sizeof path, "%s/dev/nvidia0", folder.root);
        if (fstat(fd, &status) == 0 && stat(path, &file) == 0 && status.st_ino == file.st_ino) {
            int other = open("/dev/null", O_RDONLY);
            EXPECT("another file by its number", fd, dup2(other, fd));
            close(other);
            CALL(nvmlShutdown);
            EXPECT("stays open", 0, fcntl(fd, F_GETFD));
            close(fd);
        }
    }
    EXPECT("nothing held", 0, holds(&folder, getpid(), 1));
    unlink(path);
    EXPECT("init without the file", 0, CALL(nvmlInit_v2));
    EXPECT("holds the others", 1, holds(&folder, getpid(), 1));
    CALL(nvmlShutdown);
    remove_folder(test, &folder);
}
