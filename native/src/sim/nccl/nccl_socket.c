/* Sockets: the interface, listening, connecting. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nccl_sim.h"

/* A refused connection is tried again for so long: a root that is about to listen must not fail its ranks. */
enum { REFUSED_MS = 2000, CONNECT_MS = 20000, RETRY_MS = 20 };

/* "^a,b" excludes names that begin so, "=a" requires the whole name, else a name begins with one of the list. */
static bool permitted(const char *list, const char *name)
{
    bool excluded = *list == '^', found = false;
    list += excluded;
    bool whole = *list == '=';
    list += whole;
    while (*list && !found) {
        size_t length = strcspn(list, ",");
        found = length > 0 && strncmp(list, name, length) == 0 && (!whole || name[length] == '\0');
        list += length;
        list += *list == ',';
    }
    return found != excluded;
}

/* Without a wish: the first that is up; loopback and bridges of containers come last. */
static int rank_of(const struct ifaddrs *one, const char *wish)
{
    if (!one->ifa_addr || !(one->ifa_flags & IFF_UP)
        || (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6)) {
        return 0;
    }
    int family = one->ifa_addr->sa_family == AF_INET ? 2 : 1;
    if (wish && *wish) {
        return permitted(wish, one->ifa_name) ? family : 0;
    }
    bool loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
    return family + (loopback ? 0 : strncmp(one->ifa_name, "docker", 6) == 0 ? 2 : 4);
}

ncclResult_t nc_find_interface(nc_address_t *address)
{
    struct ifaddrs *all = NULL;
    int best = 0;
    if (getifaddrs(&all) != 0) {
        return nc_fail(ncclSystemError, "Call to getifaddrs failed : %s", strerror(errno));
    }
    memset(address, 0, sizeof *address);
    for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
        int rank = rank_of(one, getenv("NCCL_SOCKET_IFNAME"));
        if (rank > best) {
            best = rank;
            bool four = one->ifa_addr->sa_family == AF_INET;
            memcpy(address, one->ifa_addr, four ? sizeof address->four : sizeof address->six);
        }
    }
    freeifaddrs(all);
    /* 3 was seen with 2.21.5, 5 with 2.22.3 and 2.29.7. */
    return best > 0 ? ncclSuccess
                    : nc_fail(nc_version() < 22200 ? ncclInternalError : ncclInvalidUsage,
                              "Bootstrap : no socket interface found");
}

static socklen_t length_of(const nc_address_t *address)
{
    return address->any.sa_family == AF_INET ? sizeof address->four : sizeof address->six;
}

/* A peer whose machine has gone ends the connection too, although it sends nothing. */
void nc_prepare_socket(int socket)
{
    int on = 1, idle = 10, milliseconds = 30000;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof idle);
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

void nc_close(int *socket)
{
    if (*socket >= 0) {
        close(*socket);
        *socket = -1;
    }
}

ncclResult_t nc_listen(nc_address_t *address, int *result)
{
    NC_TRY(nc_find_interface(address));
    socklen_t length = length_of(address);
    if (address->any.sa_family == AF_INET) {
        address->four.sin_port = 0;
    } else {
        address->six.sin6_port = 0;
    }
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, &address->any, length) != 0 || listen(fd, NC_RANKS_MAX) != 0
        || getsockname(fd, &address->any, &length) != 0) {
        nc_fail(ncclSystemError, "Call to bind failed : %s", strerror(errno));
        nc_close(&fd);
        return ncclSystemError;
    }
    *result = fd;
    return ncclSuccess;
}

static ncclResult_t refused(const nc_address_t *address, int error)
{
    char text[INET6_ADDRSTRLEN] = "";
    bool four = address->any.sa_family == AF_INET;
    const void *number = four ? (const void *)&address->four.sin_addr : &address->six.sin6_addr;
    inet_ntop(address->any.sa_family, number, text, sizeof text);
    return nc_fail(ncclSystemError, "socketStartConnect: Connect to %s<%d> failed : %s", text,
                   ntohs(four ? address->four.sin_port : address->six.sin6_port), strerror(error));
}

/* Returns 0 when connected, else the error of this attempt; -1 if the communicator has failed. */
static int attempt(ncclComm_t comm, const nc_address_t *address, int fd, ncclResult_t *result)
{
    if (connect(fd, &address->any, length_of(address)) == 0) {
        return 0;
    }
    int error = errno;
    for (int64_t end_ns = nc_now_ns() + CONNECT_MS * INT64_C(1000000); error == EINPROGRESS;) {
        struct pollfd one = {fd, POLLOUT, 0};
        *result = nc_wait(comm, &one, 1);
        if (*result != ncclSuccess) {
            return -1;
        }
        socklen_t length = sizeof error;
        if (one.revents) {
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
        } else if (nc_now_ns() > end_ns) {
            error = ETIMEDOUT;
        }
    }
    return error;
}

ncclResult_t nc_connect(ncclComm_t comm, const nc_address_t *address, const nc_hello_t *hello, int *result)
{
    int64_t end_ns = nc_now_ns() + REFUSED_MS * INT64_C(1000000);
    for (;;) {
        ncclResult_t failed = ncclSuccess;
        int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        int error = fd < 0 ? errno : attempt(comm, address, fd, &failed);
        if (error == 0) {
            nc_prepare_socket(fd);
            /* The first bytes of a connection always find room. */
            if (send(fd, hello, sizeof *hello, MSG_NOSIGNAL) == (ssize_t)sizeof *hello) {
                *result = fd;
                return ncclSuccess;
            }
            error = errno;
        }
        nc_close(&fd);
        if (failed != ncclSuccess) {
            return failed;
        }
        if (error != ECONNREFUSED || nc_now_ns() > end_ns) {
            return refused(address, error);
        }
        NC_TRY(nc_alive(comm));
        sim_sleep_ms(RETRY_MS);
    }
}
