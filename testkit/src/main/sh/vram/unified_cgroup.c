/*
 * Preloaded into Slurm's programs on a kernel that has hierarchies of cgroup v1 beside v2: of each /proc/PID/cgroup they see the line of
 * v2 alone. Slurm's plugin for cgroup v2 ends itself otherwise ("Hybrid mode is not supported"), although it needs nothing of v1.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef FILE *open_stream(const char *, const char *);
typedef int open_file(const char *, int, ...);

/* Returns a file with the line of v2; -1 for another path, or where there is no such line. */
static int unified(const char *path)
{
    size_t length = strlen(path);
    char line[4096];
    int found = -1;
    if (strncmp(path, "/proc/", 6) != 0 || length < 7 || strcmp(path + length - 7, "/cgroup") != 0) {
        return -1;
    }
    open_stream *real = (open_stream *)dlsym(RTLD_NEXT, "fopen");
    FILE *in = real(path, "r");
    while (in != NULL && found < 0 && fgets(line, sizeof line, in) != NULL) {
        if (strncmp(line, "0::", 3) == 0) {
            found = memfd_create("cgroup", 0);
            if (found >= 0 && write(found, line, strlen(line)) == (ssize_t)strlen(line)) {
                lseek(found, 0, SEEK_SET);
            }
        }
    }
    if (in != NULL) {
        fclose(in);
    }
    return found;
}

#define STREAM(name)                                                            \
    FILE *name(const char *path, const char *mode)                              \
    {                                                                           \
        int file = unified(path);                                               \
        return file >= 0 ? fdopen(file, "r") : ((open_stream *)dlsym(RTLD_NEXT, #name))(path, mode); \
    }
#define FILE_OF(name)                                                           \
    int name(const char *path, int flags, ...)                                  \
    {                                                                           \
        va_list more;                                                           \
        va_start(more, flags);                                                  \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;       \
        va_end(more);                                                           \
        int file = unified(path);                                               \
        return file >= 0 ? file : ((open_file *)dlsym(RTLD_NEXT, #name))(path, flags, mode); \
    }
STREAM(fopen)
STREAM(fopen64)
FILE_OF(open)
FILE_OF(open64)
