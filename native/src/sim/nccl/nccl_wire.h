/*
 * The messages between ranks, over TCP. All come from strangers until their magic number is compared, which is a part of the
 * unique id. Both sides are this library on machines of one byte order.
 */
#ifndef GPUWARDEN_NCCL_WIRE_H
#define GPUWARDEN_NCCL_WIRE_H

#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl_mirror.h"

/* An address of IPv4 or IPv6, as large as the latter. */
typedef union {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} nc_address_t;

/* The content of a unique id, as in the real one: a random number and the address of the root. */
typedef struct {
    uint64_t magic;
    nc_address_t root;
} nc_handle_t;
_Static_assert(sizeof(nc_handle_t) <= NCCL_UNIQUE_ID_BYTES, "a unique id holds it");

/* A rank, for the others. */
typedef struct {
    uint64_t host;  /* equal for ranks of one node */
    uint64_t clock; /* equal for ranks that share a monotonic clock */
    int64_t bus;    /* domain, bus, device and function, as NCCL prints them */
    int32_t slot, rank;
    nc_address_t address; /* of its listening socket */
    int32_t color, key;   /* in a split */
} nc_peer_t;

enum { NC_HELLO_ROOT = 1, NC_HELLO_RING = 2, NC_HELLO_PEER = 3 };

/* The first bytes on every connection. */
typedef struct {
    uint64_t magic;
    int32_t kind;
    int32_t rank, count;
    int32_t reserved;
    nc_peer_t peer; /* for the root */
} nc_hello_t;

enum { NC_FRAME_DATA = 1, NC_FRAME_BYE = 2, NC_FRAME_ACK = 3 };

/* Before every payload. */
typedef struct {
    uint64_t magic;
    uint64_t sequence;
    uint64_t bytes;
    uint32_t kind;
    uint32_t type;    /* of Send: the data type */
    int64_t ready_ns; /* of Send and its acknowledgement */
    int64_t mbps;
} nc_frame_t;

/* ---- sockets (nccl_socket.c); all are non-blocking ---- */

/* A listening socket on the interface that NCCL_SOCKET_IFNAME permits. 3 or 5 without one, 2 if the system refuses. */
ncclResult_t nc_listen(nc_address_t *address, int *socket);
/* Connects and sends the first bytes. Tries again for a while if refused. */
struct ncclComm;
ncclResult_t nc_connect(struct ncclComm *comm, const nc_address_t *address, const nc_hello_t *hello, int *socket);
void nc_prepare_socket(int socket);
void nc_close(int *socket);
ncclResult_t nc_find_interface(nc_address_t *address);

/* ---- strangers (nccl_lobby.c) ---- */

/* Accepted connections that have not introduced themselves. Each has five seconds; the oldest leaves when there are too many. */
enum { NC_GUESTS_MAX = 64, NC_HANDSHAKE_MS = 5000 };
typedef struct {
    int socket;
    size_t have;
    int64_t deadline_ns;
    nc_hello_t hello;
} nc_guest_t;
typedef struct {
    int listener; /* -1: closed */
    uint64_t magic;
    int count;
    nc_guest_t *guests; /* NC_GUESTS_MAX of them; NULL without memory, and no guest is accepted */
} nc_lobby_t;

void nc_lobby_open(nc_lobby_t *lobby, int listener, uint64_t magic);
/* Adds what poll must watch; at most 1 + NC_GUESTS_MAX entries. Returns their number. */
int nc_lobby_watch(const nc_lobby_t *lobby, struct pollfd *watched);
/* Accepts and reads what is there. Returns a socket whose introduction is complete and has the magic number, or -1. */
int nc_lobby_next(nc_lobby_t *lobby, nc_hello_t *hello);
void nc_lobby_close(nc_lobby_t *lobby);

#endif
