/* One change of the table: the lock of its first byte orders the writers, the sequence shows readers all of it or nothing. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "smi.h"

static int locked = -1;

bool smi_change_begin(sim_table_t *table)
{
    struct flock turn = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    int result;
    locked = sim_open_mapped();
    do {
        result = locked < 0 ? -1 : fcntl(locked, F_OFD_SETLKW, &turn);
    } while (locked >= 0 && result != 0 && errno == EINTR);
    if (result != 0) {
        return false;
    }
    /* Odd already if a writer was killed in the middle. */
    __atomic_store_n(&table->header->sequence, table->header->sequence | 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return true;
}

void smi_change_end(sim_table_t *table)
{
    __atomic_store_n(&table->header->sequence, table->header->sequence + 1, __ATOMIC_RELEASE);
    close(locked);
    locked = -1;
}
