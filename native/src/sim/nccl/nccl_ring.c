/* Frames between neighbours in the ring: each rank sends to the next one and receives from the one before, at the same time. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "nccl_sim.h"

typedef struct {
    const nc_transfer_t *what;
    nc_frame_t out, in;
    size_t sent, got; /* with the frame's head */
    size_t reduced;   /* bytes of the result */
    size_t partial;   /* bytes in the block: less than an element */
} state_t;

static ncclResult_t lost(void)
{
    return nc_fail(ncclRemoteError, "socketProgress: Connection closed by remote peer");
}

/* Bytes of the payload that may be sent now. */
static size_t sendable(const state_t *state)
{
    return state->what->forward ? state->reduced : state->what->send_bytes;
}

static bool wants_to_send(const state_t *state)
{
    return state->sent < sizeof state->out + state->what->send_bytes
           && (state->sent < sizeof state->out || state->sent - sizeof state->out < sendable(state));
}

static bool wants_to_receive(const state_t *state)
{
    return state->got < sizeof state->in + state->what->recv_bytes;
}

static ncclResult_t send_some(ncclComm_t comm, state_t *state)
{
    size_t head = state->sent < sizeof state->out ? sizeof state->out - state->sent : 0;
    size_t at = head > 0 ? 0 : state->sent - sizeof state->out;
    struct iovec parts[2] = {{(char *)&state->out + sizeof state->out - head, head},
                             {(char *)(uintptr_t)state->what->send + at, sendable(state) - at}};
    struct msghdr message = {.msg_iov = parts + (head == 0), .msg_iovlen = head > 0 && parts[1].iov_len > 0 ? 2 : 1};
    ssize_t sent = sendmsg(comm->next_rank, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        return lost();
    }
    state->sent += sent > 0 ? (size_t)sent : 0;
    return ncclSuccess;
}

/* Both sides must do the same step of the same operation. */
static ncclResult_t check_head(ncclComm_t comm, const state_t *state)
{
    const nc_frame_t *in = &state->in;
    if (in->magic != comm->magic || in->kind == NC_FRAME_BYE) {
        return in->kind == NC_FRAME_BYE ? lost() : nc_fail(ncclInternalError, "rank %d received no frame", comm->rank);
    }
    if (in->kind != NC_FRAME_DATA || in->sequence != comm->sequence || in->bytes != state->what->recv_bytes) {
        return nc_fail(ncclInvalidUsage,
                       "NET/Socket : message of %llu bytes instead of %zu: there may be a mismatch in collective sizes",
                       (unsigned long long)in->bytes, state->what->recv_bytes);
    }
    return ncclSuccess;
}

/* Whole elements go from the block into the result. */
static void reduce_block(ncclComm_t comm, state_t *state, size_t bytes)
{
    const nc_transfer_t *what = state->what;
    size_t width = nc_type_bytes(what->by->type), filled = state->partial + bytes, whole = filled / width;
    nc_reduce(what->by, what->recv + state->reduced, comm->block, what->own + state->reduced, whole);
    state->reduced += whole * width;
    state->partial = filled - whole * width;
    memmove(comm->block, comm->block + whole * width, state->partial);
}

static ncclResult_t receive_some(ncclComm_t comm, state_t *state)
{
    const nc_transfer_t *what = state->what;
    size_t head = state->got < sizeof state->in ? sizeof state->in - state->got : 0;
    size_t at = head > 0 ? 0 : state->got - sizeof state->in;
    size_t left = what->recv_bytes - at;
    char *into = what->by ? comm->block + state->partial : what->recv + at;
    size_t room = what->by && left > NC_BLOCK - state->partial ? NC_BLOCK - state->partial : left;
    struct iovec parts[2] = {{(char *)&state->in + sizeof state->in - head, head}, {into, room}};
    struct msghdr message = {.msg_iov = parts + (head == 0), .msg_iovlen = head > 0 && room > 0 ? 2 : 1};
    ssize_t got = recvmsg(comm->prev_rank, &message, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        return lost();
    }
    size_t count = got > 0 ? (size_t)got : 0, of_head = count < head ? count : head;
    state->got += count;
    if (head > 0 && of_head == head) {
        NC_TRY(check_head(comm, state));
    }
    if (count > of_head && what->by) {
        reduce_block(comm, state, count - of_head);
    } else {
        state->reduced += count - of_head;
    }
    return ncclSuccess;
}

ncclResult_t nc_exchange(ncclComm_t comm, const nc_transfer_t *what)
{
    state_t state = {.what = what,
                     .out = {.magic = comm->magic, .kind = NC_FRAME_DATA, .sequence = comm->sequence, .bytes = what->send_bytes}};
    state.sent = what->send ? 0 : sizeof state.out + what->send_bytes;
    state.got = what->recv ? 0 : sizeof state.in + what->recv_bytes;
    for (;;) {
        size_t before = state.sent + state.got;
        if (wants_to_send(&state)) {
            NC_TRY(send_some(comm, &state));
        }
        if (wants_to_receive(&state)) {
            NC_TRY(receive_some(comm, &state));
        }
        bool out = wants_to_send(&state), in = wants_to_receive(&state);
        if (!out && !in) {
            return ncclSuccess;
        }
        if (state.sent + state.got == before) {
            struct pollfd sockets[2] = {{out ? comm->next_rank : -1, POLLOUT, 0}, {in ? comm->prev_rank : -1, POLLIN, 0}};
            NC_TRY(nc_wait(comm, sockets, 2));
        }
    }
}

ncclResult_t nc_all_gather(ncclComm_t comm, char *entries, size_t bytes)
{
    int count = comm->count;
    for (int step = 0; step + 1 < count; step++) {
        int out = (comm->rank - step + count) % count, in = (comm->rank - step - 1 + 2 * count) % count;
        nc_transfer_t transfer = {.send = entries + (size_t)out * bytes, .send_bytes = bytes,
                                  .recv = entries + (size_t)in * bytes, .recv_bytes = bytes};
        NC_TRY(nc_exchange(comm, &transfer));
    }
    return ncclSuccess;
}
