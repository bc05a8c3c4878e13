/*
 * The node's own proc folder has this process while it holds memory of a GPU, so that a reader finds its cgroup and its start there.
 * Every file is a link into /proc/PID and ends with the process, however that ends. Start times count from the node's boot, so `stat`
 * is a file in memory of this process, by the link of its descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cuda_sim.h"

enum { START_FIELD = 22, TICKS_PER_SECOND = 100, TEXT = 4096 };

static const char *const links[] = {"comm", "cmdline", "cgroup", "status", "ns"};

static int stat_fd = -1;
static char shown[PATH_MAX]; /* the folder of this process; "": none */

static bool join(char *path, size_t bytes, const char *folder, const char *name)
{
    int length = snprintf(path, bytes, "%s/%s", folder, name);
    return length > 0 && length < (int)bytes;
}

/* Reads a file as text; empty if there is none. */
static void read_text(const char *path, char *text, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, bytes - 1);
    text[length > 0 ? length : 0] = '\0';
    if (fd >= 0) {
        close(fd);
    }
}

/* Seconds since 1970, from a /proc/stat; -1: none. */
static int64_t booted(const char *proc)
{
    char path[PATH_MAX], line[256];
    int64_t seconds = -1;
    FILE *file = join(path, sizeof path, proc, "stat") ? fopen(path, "re") : NULL;
    while (file && seconds < 0 && fgets(line, sizeof line, file)) {
        if (strncmp(line, "btime ", 6) == 0) {
            seconds = strtoll(line + 6, NULL, 10);
        }
    }
    if (file) {
        fclose(file);
    }
    return seconds;
}

/* The folder beside the one with the table; false on nodes without it. */
static bool node_proc(int table_fd, char *proc, size_t bytes)
{
    char link[64], table[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", table_fd);
    ssize_t length = readlink(link, table, sizeof table - 1);
    for (int parts = 0; parts < 2 && length > 0; parts++) {
        table[length] = '\0';
        char *slash = strrchr(table, '/');
        length = slash ? slash - table : 0;
    }
    if (length <= 0) {
        return false;
    }
    table[length] = '\0';
    return join(proc, bytes, table, "proc");
}

/* The kernel's line about this process, with the start in ticks since the node's boot. */
static bool write_stat(int64_t earlier_seconds)
{
    char text[TEXT], changed[TEXT + 32];
    read_text("/proc/self/stat", text, sizeof text);
    char *at = strrchr(text, ')'); /* the name may contain anything */
    for (int field = 2; at && field < START_FIELD; field++) {
        at = strchr(at + 1, ' ');
    }
    if (!at) {
        return false;
    }
    char *rest;
    int64_t ticks = strtoll(at + 1, &rest, 10) + earlier_seconds * TICKS_PER_SECOND;
    int length = snprintf(changed, sizeof changed, "%.*s %lld%s", (int)(at - text), text,
                          (long long)(ticks > 0 ? ticks : 0), rest);
    stat_fd = stat_fd < 0 ? memfd_create("gpuwarden-stat", MFD_CLOEXEC) : stat_fd;
    return stat_fd >= 0 && ftruncate(stat_fd, 0) == 0 && pwrite(stat_fd, changed, (size_t)length, 0) == length;
}

/* The node's uptime as of now: a process that started after it would be one of the future, and no file changes by itself. */
static void write_uptime(const char *proc, int64_t boot)
{
    char path[PATH_MAX], fresh[PATH_MAX], name[32], text[96];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double seconds = (double)(now.tv_sec - boot) + (double)now.tv_nsec / 1e9;
    snprintf(name, sizeof name, ".uptime-%d", getpid());
    int length = snprintf(text, sizeof text, "%.2f %.2f\n", seconds, seconds);
    if (!join(path, sizeof path, proc, "uptime") || !join(fresh, sizeof fresh, proc, name)) {
        return;
    }
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        return;
    }
    bool written = write(fd, text, (size_t)length) == length;
    close(fd);
    if (!written || rename(fresh, path) != 0) {
        unlink(fresh);
    }
}

static void add_link(const char *folder, const char *name, const char *target)
{
    char path[PATH_MAX];
    if (join(path, sizeof path, folder, name)) {
        unlink(path);
        if (symlink(target, path) != 0) {
            unlink(path);
        }
    }
}

/* False for a process of the scenario, whose files are no links. */
static bool ours(const char *folder)
{
    char path[PATH_MAX], target[8];
    return join(path, sizeof path, folder, "cgroup") && readlink(path, target, sizeof target) > 0;
}

static void remove_folder(const char *folder)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        if (join(path, sizeof path, folder, links[i])) {
            unlink(path);
        }
    }
    if (join(path, sizeof path, folder, "stat")) {
        unlink(path);
    }
    rmdir(folder);
}

void cu_process_show(int table_fd)
{
    char proc[PATH_MAX], pid[16], target[64];
    int64_t boot;
    if (shown[0] || !node_proc(table_fd, proc, sizeof proc) || (boot = booted(proc)) < 0) {
        return;
    }
    snprintf(pid, sizeof pid, "%d", getpid());
    if (!join(shown, sizeof shown, proc, pid) || !write_stat(booted("/proc") - boot)
        || (mkdir(shown, 0755) != 0 && (errno != EEXIST || !ours(shown)))) {
        shown[0] = '\0';
        return;
    }
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        snprintf(target, sizeof target, "/proc/%s/%s", pid, links[i]);
        add_link(shown, links[i], target);
    }
    snprintf(target, sizeof target, "/proc/%s/fd/%d", pid, stat_fd);
    add_link(shown, "stat", target);
    write_uptime(proc, boot);
}

void cu_process_hide(void)
{
    if (shown[0]) {
        remove_folder(shown);
        shown[0] = '\0';
    }
}

void cu_process_gone(int table_fd, int64_t dead)
{
    char proc[PATH_MAX], pid[24], folder[PATH_MAX], path[PATH_MAX];
    snprintf(pid, sizeof pid, "%lld", (long long)dead);
    if (node_proc(table_fd, proc, sizeof proc) && join(folder, sizeof folder, proc, pid) && ours(folder)
        && join(path, sizeof path, folder, "stat") && access(path, F_OK) != 0) {
        remove_folder(folder);
    }
}

void cu_process_forget(void)
{
    shown[0] = '\0';
    if (stat_fd >= 0) {
        close(stat_fd);
        stat_fd = -1;
    }
}
