"""Waits until a daemon answers GetNode on its Unix socket, and prints when, in microseconds of the epoch.

Speaks just enough HTTP/2 for one call, so that nothing of its own has to load between the daemon's start and its answer.

usage: grpc_ready.py SOCKET
"""
import socket
import struct
import sys
import time

PATH = b"/gpuwarden.v1.NodeService/GetNode"
SETTINGS, DATA, HEADERS = 4, 0, 1
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def headers():
    # RFC 7541: indexed fields, then literals without indexing
    def literal(prefix, value):
        return prefix + bytes([len(value)]) + value

    return (b"\x83\x86" + literal(b"\x04", PATH) + literal(b"\x01", b"localhost")
            + literal(b"\x0f\x10", b"application/grpc") + literal(b"\x00\x02te", b"trailers"))


def read(connection, count):
    got = b""
    while len(got) < count:
        some = connection.recv(count - len(got))
        if not some:
            raise ConnectionError("closed")
        got += some
    return got


def ask(path):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(path)
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b"")
                           + frame(HEADERS, END_HEADERS, 1, headers()) + frame(DATA, END_STREAM, 1, bytes(5)))
        answered = False
        while True:
            head = read(connection, 9)
            read(connection, int.from_bytes(head[:3], "big"))
            kind, flags = head[3], head[4]
            answered = answered or kind == DATA
            if kind == HEADERS and flags & END_STREAM:
                return answered


def main(path):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if ask(path):
                print(time.time_ns() // 1000)
                return
        except OSError:
            time.sleep(0.002)
    raise SystemExit("no answer on " + path)


main(*sys.argv[1:])
