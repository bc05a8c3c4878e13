"""Relays connections to a Unix socket as another user, so that the program behind it sees that user as the caller.

usage: as_user.py UID SOCKET-TO-MAKE SOCKET-TO-OPEN, as root. Ends with its standard input."""

import os
import socket
import sys
import threading


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(server, path):
    while True:
        client, _ = server.accept()
        program = socket.socket(socket.AF_UNIX)
        try:
            program.connect(path)
        except OSError as refused:
            print(f"connect {path}: {refused}", file=sys.stderr, flush=True)
            client.close()
            continue
        for ends in ((client, program), (program, client)):
            threading.Thread(target=pump, args=ends, daemon=True).start()


def main():
    user = int(sys.argv[1])
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[2])
    server.listen(16)
    # The folders above may be root's alone: the user needs a way through the last one only.
    os.chdir(os.path.dirname(sys.argv[3]))
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    threading.Thread(target=serve, args=(server, os.path.basename(sys.argv[3])), daemon=True).start()
    sys.stdin.read()


main()
