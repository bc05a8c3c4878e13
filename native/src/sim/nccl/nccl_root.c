/* The root: the thread behind a unique id. It collects the descriptions of all ranks, and sends all of them to each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "nccl_sim.h"

typedef struct {
    nc_lobby_t lobby;
    int expected, present; /* ranks; expected 0: no rank has come yet */
    int *sockets;          /* by rank; -1: not yet */
    nc_peer_t *peers;
} root_t;

static bool allocate(root_t *root, int count)
{
    root->expected = count;
    root->sockets = malloc((size_t)count * sizeof *root->sockets);
    root->peers = calloc((size_t)count, sizeof *root->peers);
    for (int i = 0; root->sockets && i < count; i++) {
        root->sockets[i] = -1;
    }
    return root->sockets && root->peers;
}

/* False ends the meeting for all: the ranks disagree about their number, or two have the same. */
static bool check_in(root_t *root, int socket, const nc_hello_t *hello)
{
    bool valid = hello->kind == NC_HELLO_ROOT && hello->count >= 1 && hello->count <= NC_RANKS_MAX
                 && hello->rank >= 0 && hello->rank < hello->count;
    if (!valid || (root->expected == 0 && !allocate(root, hello->count))) {
        nc_close(&socket);
        return valid == false;
    }
    if (hello->count != root->expected) {
        nc_fail(ncclInternalError, "Bootstrap Root : mismatch in rank count from procs %d : %d", root->expected,
                hello->count);
        nc_close(&socket);
        return false;
    }
    if (root->sockets[hello->rank] >= 0) {
        nc_fail(ncclInternalError, "Bootstrap Root : rank %d of %d ranks has already checked in", hello->rank,
                root->expected);
        nc_close(&socket);
        return false;
    }
    root->sockets[hello->rank] = socket;
    root->peers[hello->rank] = hello->peer;
    root->peers[hello->rank].rank = hello->rank;
    root->present++;
    return true;
}

/* A rank that has checked in sends nothing more, so anything from it is its end. */
static int watch_ranks(const root_t *root, struct pollfd *watched)
{
    int count = 0;
    for (int i = 0; i < root->expected; i++) {
        if (root->sockets[i] >= 0) {
            watched[count++] = (struct pollfd){root->sockets[i], POLLIN | POLLRDHUP, 0};
        }
    }
    return count;
}

static bool meet(root_t *root)
{
    enum { SLICE_MS = 1000 };
    static const int most = 1 + NC_GUESTS_MAX + NC_RANKS_MAX;
    struct pollfd *watched = malloc((size_t)most * sizeof *watched);
    bool going = watched != NULL;
    while (going && (root->expected == 0 || root->present < root->expected)) {
        int ranks = watch_ranks(root, watched);
        int count = ranks + nc_lobby_watch(&root->lobby, watched + ranks);
        poll(watched, (nfds_t)count, SLICE_MS);
        for (int i = 0; i < ranks; i++) {
            going = going && watched[i].revents == 0;
        }
        nc_hello_t hello;
        int socket = going ? nc_lobby_next(&root->lobby, &hello) : -1;
        going = going && (socket < 0 || check_in(root, socket, &hello));
    }
    free(watched);
    return going;
}

/* A rank that does not read is not waited for longer than this. */
static void send_peers(const root_t *root, int socket)
{
    enum { PATIENCE_MS = 10000 };
    const char *bytes = (const char *)root->peers;
    size_t left = (size_t)root->expected * sizeof *root->peers;
    while (left > 0) {
        ssize_t sent = send(socket, bytes, left, MSG_NOSIGNAL);
        struct pollfd one = {socket, POLLOUT, 0};
        if (sent < 0 && (errno != EAGAIN || poll(&one, 1, PATIENCE_MS) <= 0)) {
            return;
        }
        bytes += sent > 0 ? sent : 0;
        left -= sent > 0 ? (size_t)sent : 0;
    }
}

static void *serve(void *argument)
{
    root_t *root = argument;
    bool complete = meet(root);
    nc_lobby_close(&root->lobby);
    for (int i = 0; i < root->expected && root->sockets; i++) {
        if (complete) {
            send_peers(root, root->sockets[i]);
        }
        nc_close(&root->sockets[i]);
    }
    free(root->sockets);
    free(root->peers);
    free(root);
    return NULL;
}

NC_CALL(ncclGetUniqueId, -1, (ncclUniqueId * id), (id))
{
    (void)call;
    NC_NEED(id, "GetUniqueId", "out")
    nc_handle_t handle;
    int listener;
    memset(&handle, 0, sizeof handle);
    memset(id, 0, sizeof *id);
    if (getrandom(&handle.magic, sizeof handle.magic, 0) != (ssize_t)sizeof handle.magic) {
        return nc_fail(ncclSystemError, "Call to getrandom failed : %s", strerror(errno));
    }
    NC_TRY(nc_listen(&handle.root, &listener));
    root_t *root = calloc(1, sizeof *root);
    pthread_t thread;
    if (!root) {
        nc_close(&listener);
        return nc_fail(ncclSystemError, "Failed to malloc %zu bytes", sizeof *root);
    }
    nc_lobby_open(&root->lobby, listener, handle.magic);
    if (pthread_create(&thread, NULL, serve, root) != 0) {
        nc_close(&listener);
        free(root);
        return nc_fail(ncclSystemError, "pthread_create failed");
    }
    pthread_detach(thread);
    memcpy(id, &handle, sizeof handle);
    return ncclSuccess;
}
