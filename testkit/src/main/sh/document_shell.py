"""A shell of the user who tries the documents; it keeps what its commands set."""
import os
import signal
import subprocess
import tempfile
import time

READY_SECONDS = 60
ENDING_SECONDS = 120


class Shell:
    """A bash in the copy's folder, of the user who tries."""

    def __init__(self, user, folder, environment):
        self.user, self.folder, self.environment = user, folder, environment
        self.started = 0
        self.program = os.path.join(folder, "packaging/target/image/bin/gpuwarden")
        self.work = tempfile.mkdtemp(prefix="commands-", dir=os.path.dirname(folder))
        user.own(self.work)
        self.bash, self.beside, self.cluster = None, [], None

    def start(self):
        self.bash = subprocess.Popen(
            [*self.user.prefix, "bash"], cwd=self.folder, env=self.environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)

    def run(self, command, limit):
        """Returns the exit code, None when it did not end in time, and the output."""
        if self.bash is None or self.bash.poll() is not None:
            self.start()
        output = os.path.join(self.work, "output")
        self.write("command", command)
        self.bash.stdin.write(f"{{ . {self.work!r}/command; }} </dev/null >{output!r} 2>&1; echo ended $?\n")
        self.bash.stdin.flush()
        signal.signal(signal.SIGALRM, self.expire)
        signal.alarm(limit)
        answer = self.bash.stdout.readline()
        signal.alarm(0)
        code = int(answer.split()[1]) if answer.startswith("ended ") else None
        return code, read(output)

    def expire(self, *_):
        os.killpg(self.bash.pid, signal.SIGKILL)

    def run_beside(self, command, ready):
        """Starts what runs until it is stopped. Returns what is wrong."""
        self.started += 1
        log = os.path.join(self.work, f"beside-{self.started}")
        pid_file = log + ".pid"
        self.write(os.path.basename(log) + ".sh", "export -n BASH_ENV\n" + command)
        self.run(f"setsid bash {log!r}.sh </dev/null >{log!r} 2>&1 & echo $! >{pid_file!r}", 10)
        pid = int(read(pid_file))
        self.beside.append((command, pid, log))
        end = time.monotonic() + READY_SECONDS
        while ready not in read(log):
            if not os.path.exists(f"/proc/{pid}") or time.monotonic() > end:
                return f"expected \"{ready}\" and a command that goes on\n{read(log)}"
            time.sleep(0.1)
        return None

    def stop_beside(self):
        for command, pid, log in reversed(self.beside):
            try:
                os.killpg(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
            end = time.monotonic() + 30
            while os.path.exists(f"/proc/{pid}") and time.monotonic() < end and state(pid) != "Z":
                time.sleep(0.05)
            if os.path.exists(f"/proc/{pid}") and state(pid) != "Z":
                os.killpg(pid, signal.SIGKILL)
        self.beside = []

    def write(self, name, text):
        with open(os.path.join(self.work, name), "w") as file:
            file.write(text + "\n")

    def leave_cluster(self):
        if self.cluster is not None:
            self.beside = self.cluster
            self.stop_beside()
            self.run("sudo ./gpuwarden cluster down; unset KUBECONFIG", ENDING_SECONDS)
        self.cluster = None

    def close(self):
        self.stop_beside()
        self.leave_cluster()
        if self.bash is not None:
            self.bash.stdin.close()
            self.bash.wait(30)


def state(pid):
    try:
        return read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[0]
    except IndexError:
        return "Z"


def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
