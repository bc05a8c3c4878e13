/* Connections of strangers, until they have introduced themselves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nccl_sim.h"

void nc_lobby_open(nc_lobby_t *lobby, int listener, uint64_t magic)
{
    memset(lobby, 0, sizeof *lobby);
    lobby->listener = listener;
    lobby->magic = magic;
    lobby->guests = calloc(NC_GUESTS_MAX, sizeof *lobby->guests);
}

int nc_lobby_watch(const nc_lobby_t *lobby, struct pollfd *watched)
{
    int count = 0;
    watched[count++] = (struct pollfd){lobby->listener, POLLIN, 0};
    for (int i = 0; i < lobby->count; i++) {
        watched[count++] = (struct pollfd){lobby->guests[i].socket, POLLIN, 0};
    }
    return count;
}

static int leave(nc_lobby_t *lobby, int i, bool keep)
{
    int socket = lobby->guests[i].socket;
    if (!keep) {
        nc_close(&socket);
    }
    lobby->count--;
    memmove(&lobby->guests[i], &lobby->guests[i + 1], (size_t)(lobby->count - i) * sizeof *lobby->guests);
    return socket;
}

/* Guests are in the order of their arrival, so the first is the oldest. Returns false if no connection waits. */
static bool accept_guest(nc_lobby_t *lobby)
{
    int socket = lobby->guests ? accept4(lobby->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC) : -1;
    if (socket < 0) {
        return false;
    }
    if (lobby->count == NC_GUESTS_MAX) {
        leave(lobby, 0, false);
    }
    nc_prepare_socket(socket);
    nc_guest_t *guest = &lobby->guests[lobby->count++];
    memset(guest, 0, sizeof *guest);
    guest->socket = socket;
    guest->deadline_ns = nc_now_ns() + NC_HANDSHAKE_MS * INT64_C(1000000);
    return true;
}

typedef enum { WAITS, COMPLETE, WRONG } guest_state_t;

/* A wrong magic number is seen before the rest has come. */
static guest_state_t read_guest(const nc_lobby_t *lobby, nc_guest_t *guest)
{
    char *into = (char *)&guest->hello;
    ssize_t got = recv(guest->socket, into + guest->have, sizeof guest->hello - guest->have, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        return WRONG;
    }
    guest->have += got > 0 ? (size_t)got : 0;
    if (guest->have >= sizeof guest->hello.magic && guest->hello.magic != lobby->magic) {
        return WRONG;
    }
    if (guest->have == sizeof guest->hello) {
        return COMPLETE;
    }
    return nc_now_ns() > guest->deadline_ns ? WRONG : WAITS;
}

/* All are read before the next one is accepted: a rank that has introduced itself never makes room for a stranger. */
int nc_lobby_next(nc_lobby_t *lobby, nc_hello_t *hello)
{
    do {
        for (int i = 0; i < lobby->count;) {
            switch (read_guest(lobby, &lobby->guests[i])) {
            case COMPLETE: *hello = lobby->guests[i].hello; return leave(lobby, i, true);
            case WRONG: leave(lobby, i, false); break;
            default: i++; break;
            }
        }
    } while (accept_guest(lobby));
    return -1;
}

void nc_lobby_close(nc_lobby_t *lobby)
{
    while (lobby->count > 0) {
        leave(lobby, 0, false);
    }
    nc_close(&lobby->listener);
    free(lobby->guests);
    lobby->guests = NULL;
}
