/* The start of a rank: its description, the meeting at the root, the ring. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nccl_sim.h"

static uint64_t hash(uint64_t seed, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) { /* FNV-1a */
        seed = (seed ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    }
    return seed;
}

/* Equal for all processes of one kernel, which share a monotonic clock. */
static uint64_t clock_hash(void)
{
    char text[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text) : 0;
    if (fd >= 0) {
        close(fd);
    }
    return hash(UINT64_C(0xcbf29ce484222325), text, got > 0 ? (size_t)got : 0);
}

/* A node is its table: one kernel may hold many simulated nodes. */
static uint64_t host_hash(void)
{
    struct stat status;
    uint64_t seed = clock_hash();
    int fd = sim_open_mapped();
    if (fd >= 0 && fstat(fd, &status) == 0) {
        seed = hash(seed, &status.st_dev, sizeof status.st_dev);
        seed = hash(seed, &status.st_ino, sizeof status.st_ino);
    }
    if (fd >= 0) {
        close(fd);
    }
    return seed;
}

ncclResult_t nc_comm_describe(ncclComm_t comm, nc_peer_t *peer)
{
    const sim_gpu_t *gpu = nc_gpu(comm);
    int listener;
    memset(peer, 0, sizeof *peer);
    NC_TRY(nc_listen(&peer->address, &listener));
    nc_lobby_open(&comm->lobby, listener, comm->magic);
    peer->host = host_hash();
    peer->clock = clock_hash();
    peer->bus = gpu->pci_domain << 20 | gpu->pci_bus << 12 | gpu->pci_device << 4;
    peer->slot = comm->place.slot;
    peer->rank = comm->rank;
    return ncclSuccess;
}

/* Reads the root's answer. */
static ncclResult_t read_peers(ncclComm_t comm, int socket)
{
    char *into = (char *)comm->peers;
    size_t left = (size_t)comm->count * sizeof *comm->peers;
    while (left > 0) {
        struct pollfd one = {socket, POLLIN, 0};
        NC_TRY(nc_wait(comm, &one, 1));
        ssize_t got = recv(socket, into, left, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            return nc_fail(ncclRemoteError, "socketProgress: Connection closed by remote peer");
        }
        into += got > 0 ? got : 0;
        left -= got > 0 ? (size_t)got : 0;
    }
    return ncclSuccess;
}

/* The numbers came over the network, and index arrays. */
static ncclResult_t check_peers(const struct ncclComm *comm)
{
    for (int i = 0; i < comm->count; i++) {
        const nc_peer_t *one = &comm->peers[i];
        bool family = one->address.any.sa_family == AF_INET || one->address.any.sa_family == AF_INET6;
        if (!family || one->rank != i || one->slot < 0 || one->slot >= SIM_GPU_MAX) {
            return nc_fail(ncclInternalError, "Bootstrap : rank %d is described wrongly", i);
        }
        for (int j = 0; j < i; j++) {
            if (comm->peers[j].host == one->host && comm->peers[j].bus == one->bus) {
                return nc_fail(ncclInvalidUsage, "Duplicate GPU detected : rank %d and rank %d both on CUDA device %llx",
                               j, i, (unsigned long long)one->bus);
            }
        }
    }
    return ncclSuccess;
}

/* Connections for Send may come early: they are kept. */
static ncclResult_t accept_previous(ncclComm_t comm)
{
    int previous = (comm->rank + comm->count - 1) % comm->count;
    while (comm->prev_rank < 0) {
        struct pollfd watched[1 + NC_GUESTS_MAX];
        nc_hello_t hello;
        NC_TRY(nc_wait(comm, watched, nc_lobby_watch(&comm->lobby, watched)));
        int socket = nc_lobby_next(&comm->lobby, &hello);
        if (socket >= 0 && hello.kind == NC_HELLO_RING && hello.rank == previous) {
            comm->prev_rank = socket;
        } else if (socket >= 0 && hello.kind == NC_HELLO_PEER && hello.rank >= 0 && hello.rank < comm->count
                   && comm->recvs[hello.rank] < 0) {
            comm->recvs[hello.rank] = socket;
        } else {
            nc_close(&socket);
        }
    }
    return ncclSuccess;
}

ncclResult_t nc_comm_connect(ncclComm_t comm)
{
    NC_TRY(check_peers(comm));
    if (comm->count > 1) {
        nc_hello_t hello = {.magic = comm->magic, .kind = NC_HELLO_RING, .rank = comm->rank, .count = comm->count};
        const nc_peer_t *next = &comm->peers[(comm->rank + 1) % comm->count];
        NC_TRY(nc_connect(comm, &next->address, &hello, &comm->next_rank));
        NC_TRY(accept_previous(comm));
    }
    return nc_worker_start(comm) ? ncclSuccess : nc_fail(ncclSystemError, "pthread_create failed");
}

/* A GPU that never answers does not come to the meeting. */
static ncclResult_t wait_while_dead(ncclComm_t comm)
{
    while (nc_gpu(comm)->nccl_dead > 0) {
        NC_TRY(nc_wait(comm, NULL, 0));
    }
    return nc_alive(comm);
}

ncclResult_t nc_comm_meet(ncclComm_t comm, const ncclUniqueId *id)
{
    nc_handle_t handle;
    memcpy(&handle, id, sizeof handle);
    if (handle.root.any.sa_family != AF_INET && handle.root.any.sa_family != AF_INET6) {
        return nc_fail(ncclInvalidArgument, "CommInitRank : commId is no unique id");
    }
    comm->magic = handle.magic;
    nc_hello_t hello = {.magic = comm->magic, .kind = NC_HELLO_ROOT, .rank = comm->rank, .count = comm->count};
    NC_TRY(wait_while_dead(comm));
    NC_TRY(nc_comm_describe(comm, &hello.peer));
    int socket = -1;
    NC_TRY(nc_connect(comm, &handle.root, &hello, &socket));
    ncclResult_t result = read_peers(comm, socket);
    nc_close(&socket);
    return result == ncclSuccess ? nc_comm_connect(comm) : result;
}

static int *no_sockets(int count)
{
    int *sockets = malloc((size_t)count * sizeof *sockets);
    for (int i = 0; sockets && i < count; i++) {
        sockets[i] = -1;
    }
    return sockets;
}

ncclResult_t nc_check_config(const ncclConfig_t *config)
{
    if (!config) {
        return ncclSuccess;
    }
    if (config->magic != NCCL_CONFIG_MAGIC || config->size < offsetof(ncclConfig_t, splitShare)) {
        return nc_fail(ncclInvalidArgument,
                       "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
    }
    if (config->blocking != NCCL_CONFIG_UNDEF_INT && config->blocking != 0 && config->blocking != 1) {
        return nc_fail(ncclInvalidArgument, "Invalid config blocking attribute value %d", config->blocking);
    }
    int policy = NCCL_CONFIG_UNDEF_INT;
    if (nc_version() >= NC_WINDOWS && config->version >= NC_WINDOWS && config->size >= NC_CONFIG_BYTES) {
        memcpy(&policy, (const char *)config + NC_CONFIG_POLICY, sizeof policy);
    }
    return policy == NCCL_CONFIG_UNDEF_INT || (policy >= 0 && policy <= NC_POLICY_MAX)
               ? ncclSuccess
               : nc_fail(ncclInvalidArgument, "Invalid config policy attribute value %d", policy);
}

ncclComm_t nc_comm_new(int rank, int count, const cuda_place_t *place, const ncclConfig_t *config)
{
    ncclComm_t comm = calloc(1, sizeof *comm);
    if (!comm) {
        return NULL;
    }
    pthread_mutex_init(&comm->lock, NULL);
    pthread_cond_init(&comm->changed, NULL);
    comm->blocking = !config || config->blocking != 0;
    comm->rank = rank;
    comm->count = count;
    comm->place = *place;
    comm->table = sim_table();
    nc_cuda(&comm->cuda);
    comm->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    comm->lobby.listener = comm->next_rank = comm->prev_rank = -1;
    comm->peers = calloc((size_t)count, sizeof *comm->peers);
    comm->sends = no_sockets(count);
    comm->recvs = no_sockets(count);
    if (!comm->cuda || !comm->table || comm->wake < 0 || !comm->peers || !comm->sends || !comm->recvs) {
        nc_close(&comm->wake);
        free(comm->peers);
        free(comm->sends);
        free(comm->recvs);
        free(comm);
        return NULL;
    }
    return comm;
}
