/*
 * Send and Recv. All of a group progress together; those to one rank, and those from one rank, in order. The receiver acknowledges
 * each, so both sides have the time at which the other was ready.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "nccl_sim.h"

typedef struct {
    nc_op_t *op;
    size_t bytes, moved; /* of the payload */
    nc_frame_t head, answer;
    size_t head_moved, answer_moved;
    bool done;
} flow_t;

typedef struct {
    ncclComm_t comm;
    flow_t *flows;
    int count, left;
    int64_t begin_ns;
    double out_ns, in_ns; /* what the link of this GPU takes for all */
} group_t;

static ncclResult_t lost(void)
{
    return nc_fail(ncclRemoteError, "socketProgress: Connection closed by remote peer");
}

static int *socket_of(ncclComm_t comm, const flow_t *flow)
{
    return flow->op->kind == NC_SEND ? &comm->sends[flow->op->peer] : &comm->recvs[flow->op->peer];
}

/* Moves what is possible of two areas in a row; false if the connection has ended. */
static bool transfer(int socket, bool out, void *first, size_t first_bytes, size_t *first_moved, char *second,
                     size_t second_bytes, size_t *second_moved)
{
    struct iovec parts[2] = {{(char *)first + *first_moved, first_bytes - *first_moved},
                             {second + *second_moved, second_bytes - *second_moved}};
    int skip = parts[0].iov_len == 0;
    struct msghdr message = {.msg_iov = parts + skip, .msg_iovlen = (size_t)(2 - skip - (parts[1].iov_len == 0 && !skip))};
    if (parts[0].iov_len + parts[1].iov_len == 0) {
        return true;
    }
    ssize_t moved = out ? sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) : recvmsg(socket, &message, MSG_DONTWAIT);
    if (moved <= 0) {
        return moved < 0 && (errno == EAGAIN || errno == EINTR);
    }
    size_t to_first = (size_t)moved < parts[0].iov_len ? (size_t)moved : parts[0].iov_len;
    *first_moved += to_first;
    *second_moved += (size_t)moved - to_first;
    return true;
}

/* Accepts until the sender's connection is there. */
static ncclResult_t accept_senders(ncclComm_t comm)
{
    nc_hello_t hello;
    int socket;
    while ((socket = nc_lobby_next(&comm->lobby, &hello)) >= 0) {
        bool wanted = hello.kind == NC_HELLO_PEER && hello.rank >= 0 && hello.rank < comm->count
                      && comm->recvs[hello.rank] < 0;
        if (wanted) {
            comm->recvs[hello.rank] = socket;
        } else {
            nc_close(&socket);
        }
    }
    return ncclSuccess;
}

static ncclResult_t open_socket(ncclComm_t comm, const flow_t *flow)
{
    nc_hello_t hello = {.magic = comm->magic, .kind = NC_HELLO_PEER, .rank = comm->rank, .count = comm->count};
    int *socket = socket_of(comm, flow);
    if (*socket >= 0) {
        return ncclSuccess;
    }
    return flow->op->kind == NC_SEND ? nc_connect(comm, &comm->peers[flow->op->peer].address, &hello, socket)
                                     : accept_senders(comm);
}

static void count_time(group_t *group, flow_t *flow, const nc_frame_t *other, int64_t mbps)
{
    ncclComm_t comm = group->comm;
    bool same_clock = comm->peers[flow->op->peer].clock == comm->peers[comm->rank].clock;
    int64_t ready_ns = same_clock ? other->ready_ns : nc_now_ns();
    group->begin_ns = ready_ns > group->begin_ns ? ready_ns : group->begin_ns;
    *(flow->op->kind == NC_SEND ? &group->out_ns : &group->in_ns) += (double)flow->bytes * 1000 / (double)(mbps > 0 ? mbps : 1);
    flow->done = true;
    group->left--;
}

static ncclResult_t step_send(group_t *group, flow_t *flow, int socket)
{
    nc_frame_t *head = &flow->head;
    if (!transfer(socket, true, head, sizeof *head, &flow->head_moved, (char *)(uintptr_t)flow->op->send, flow->bytes, &flow->moved)
        || !transfer(socket, false, &flow->answer, sizeof flow->answer, &flow->answer_moved, NULL, 0, &(size_t){0})) {
        return lost();
    }
    if (flow->answer_moved == sizeof flow->answer) {
        if (flow->answer.magic != group->comm->magic || flow->answer.kind != NC_FRAME_ACK) {
            return nc_fail(ncclInternalError, "rank %d received no acknowledgement", group->comm->rank);
        }
        count_time(group, flow, &flow->answer, head->mbps);
    }
    return ncclSuccess;
}

static ncclResult_t step_receive(group_t *group, flow_t *flow, int socket)
{
    nc_frame_t *head = &flow->head;
    if (!transfer(socket, false, head, sizeof *head, &flow->head_moved, NULL, 0, &(size_t){0})) {
        return lost();
    }
    if (flow->head_moved < sizeof *head) {
        return ncclSuccess;
    }
    if (head->magic != group->comm->magic || head->kind != NC_FRAME_DATA || head->bytes != flow->bytes
        || head->type != (uint32_t)flow->op->type) {
        return nc_fail(ncclInvalidUsage, "NET/Socket : peer %d message truncated : receiving %llu bytes instead of %zu.",
                       flow->op->peer, (unsigned long long)head->bytes, flow->bytes);
    }
    if (!transfer(socket, false, flow->op->recv, flow->bytes, &flow->moved, NULL, 0, &(size_t){0})) {
        return lost();
    }
    if (flow->moved == flow->bytes) {
        nc_frame_t answer = {.magic = group->comm->magic, .kind = NC_FRAME_ACK, .ready_ns = flow->op->ready_ns};
        if (send(socket, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof answer) {
            return lost();
        }
        count_time(group, flow, head, head->mbps);
    }
    return ncclSuccess;
}

/* True if nothing before it in its direction is under way. */
static bool active(const group_t *group, int i)
{
    for (int j = 0; j < i; j++) {
        const nc_op_t *one = group->flows[j].op, *other = group->flows[i].op;
        if (!group->flows[j].done && one->kind == other->kind && one->peer == other->peer) {
            return false;
        }
    }
    return !group->flows[i].done;
}

static size_t progress(const flow_t *flow)
{
    return flow->moved + flow->head_moved + flow->answer_moved + flow->done;
}

/* Gives each flow a chance. */
static ncclResult_t step(group_t *group, bool *moved)
{
    *moved = false;
    for (int i = 0; i < group->count; i++) {
        flow_t *flow = &group->flows[i];
        if (!active(group, i)) {
            continue;
        }
        size_t before = progress(flow);
        NC_TRY(open_socket(group->comm, flow));
        int socket = *socket_of(group->comm, flow);
        if (socket >= 0) {
            NC_TRY(flow->op->kind == NC_SEND ? step_send(group, flow, socket) : step_receive(group, flow, socket));
        }
        *moved = *moved || progress(flow) != before;
    }
    return ncclSuccess;
}

static ncclResult_t wait_for_sockets(const group_t *group)
{
    struct pollfd *watched = malloc(((size_t)group->count + 1 + NC_GUESTS_MAX) * sizeof *watched);
    if (!watched) {
        return nc_fail(ncclSystemError, "Failed to malloc");
    }
    int count = nc_lobby_watch(&group->comm->lobby, watched);
    for (int i = 0; i < group->count; i++) {
        const flow_t *flow = &group->flows[i];
        if (active(group, i)) {
            bool out = flow->op->kind == NC_SEND && flow->moved < flow->bytes;
            watched[count++] = (struct pollfd){*socket_of(group->comm, flow), (short)(out ? POLLOUT : POLLIN), 0};
        }
    }
    ncclResult_t result = nc_wait(group->comm, watched, count);
    free(watched);
    return result == ncclSuccess ? nc_watch_ring(group->comm) : result;
}

/* The n-th Send of a rank to itself is its n-th Recv. */
static ncclResult_t copy_to_self(group_t *group)
{
    ncclComm_t comm = group->comm;
    for (int i = 0; i < group->count; i++) {
        flow_t *from = &group->flows[i], *to = NULL;
        if (from->op->kind != NC_SEND || from->op->peer != comm->rank) {
            continue;
        }
        for (int j = 0; j < group->count && !to; j++) {
            flow_t *one = &group->flows[j];
            to = !one->done && one->op->kind == NC_RECV && one->op->peer == comm->rank ? one : NULL;
        }
        if (!to || to->bytes != from->bytes) {
            return nc_fail(ncclInvalidUsage, "Trying to send to self without a matching recv");
        }
        memmove(to->op->recv, from->op->send, from->bytes);
        from->head.ready_ns = from->op->ready_ns;
        count_time(group, from, &from->head, nc_rate(comm, comm->rank));
        count_time(group, to, &from->head, nc_rate(comm, comm->rank));
    }
    return ncclSuccess;
}

static ncclResult_t prepare(group_t *group, nc_op_t *ops)
{
    ncclComm_t comm = group->comm;
    for (int i = 0; i < group->count; i++) {
        nc_op_t *op = &ops[i];
        size_t bytes = op->count * nc_type_bytes(op->type);
        op->ready_ns = group->begin_ns;
        if (op->operation) {
            NC_TRY(nc_turn(comm, op));
        }
        NC_TRY(nc_check_memory(comm, op->kind == NC_SEND ? op->send : op->recv, bytes));
        group->begin_ns = op->ready_ns > group->begin_ns ? op->ready_ns : group->begin_ns;
        group->flows[i].op = op;
        group->flows[i].bytes = bytes;
        if (op->kind == NC_SEND) {
            group->flows[i].head = (nc_frame_t){.magic = comm->magic, .kind = NC_FRAME_DATA, .bytes = bytes,
                                                .type = (uint32_t)op->type, .ready_ns = op->ready_ns,
                                                .mbps = nc_rate(comm, op->peer)};
        }
    }
    return copy_to_self(group);
}

static ncclResult_t run(group_t *group, nc_op_t *ops)
{
    NC_TRY(prepare(group, ops));
    while (group->left > 0) {
        bool moved;
        NC_TRY(step(group, &moved));
        if (!moved && group->left > 0) {
            NC_TRY(wait_for_sockets(group));
        }
    }
    return ncclSuccess;
}

ncclResult_t nc_point_to_point(ncclComm_t comm, nc_op_t *ops, int count)
{
    group_t group = {.comm = comm, .count = count, .left = count};
    group.flows = calloc((size_t)count, sizeof *group.flows);
    if (!group.flows) {
        return nc_fail(ncclSystemError, "Failed to malloc");
    }
    ncclResult_t result = run(&group, ops);
    free(group.flows);
    int64_t end_ns = group.begin_ns + nc_point_ns(group.out_ns > group.in_ns ? group.out_ns : group.in_ns);
    for (int i = 0; i < count && result == ncclSuccess; i++) {
        if (ops[i].kind == NC_RECV) {
            nc_spoil(comm, ops[i].recv, ops[i].count, nc_type_bytes(ops[i].type));
        }
        if (ops[i].operation) {
            comm->cuda->finish(ops[i].operation, end_ns);
            ops[i].operation = NULL;
        }
    }
    return result;
}
