package dev.gpuwarden.nat.process;

import com.sun.jna.Function;
import com.sun.jna.LastErrorException;
import com.sun.jna.NativeLibrary;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ProcessSignals;
import java.util.Optional;

/** Signals through pidfds, which identify a process and not a number. Needs Linux 5.3. */
@SuppressForbidden("system calls that Java has not")
public final class LinuxSignals implements ProcessSignals {

    // The same on every architecture that came after 2019's unification (asm-generic/unistd.h), x86-64 and arm64 among
    // them.
    private static final long PIDFD_SEND_SIGNAL = 424;
    private static final long PIDFD_OPEN = 434;

    private static final int ESRCH = 3;
    private static final int EPERM = 1;
    private static final int ENOSYS = 38;

    @Override
    public Reading<Target> hold(int pid) {
        try {
            Function syscall = function("syscall");
            long fd = syscall.invokeLong(new Object[] {PIDFD_OPEN, (long) pid, 0L});
            return Reading.of(new Pidfd(fd));
        } catch (LastErrorException e) {
            return switch (e.getErrorCode()) {
                case ESRCH -> Reading.absent(Absence.NO_DATA, 0, "no such process");
                case ENOSYS -> Reading.absent(Absence.NOT_SUPPORTED, 0, "the kernel is older than Linux 5.3");
                default -> Reading.absent(Absence.FAILED, e.getErrorCode(), "pidfd_open");
            };
        } catch (LinkageError e) {
            return Reading.absent(Absence.FAILED, 0, "JNA's own library does not load: " + e.getMessage());
        }
    }

    private static Function function(String name) {
        return NativeLibrary.getProcess().getFunction(name, Function.THROW_LAST_ERROR);
    }

    @SuppressForbidden("system calls that Java has not")
    private record Pidfd(long fd) implements Target {

        @Override
        public Optional<String> send(int signal) {
            try {
                var unused =
                        function("syscall").invokeLong(new Object[] {PIDFD_SEND_SIGNAL, fd, (long) signal, 0L, 0L});
                return Optional.empty();
            } catch (LastErrorException e) {
                return Optional.of(
                        switch (e.getErrorCode()) {
                            case ESRCH -> "it has ended";
                            case EPERM -> "no permission: root with the capability KILL is needed";
                            default -> "pidfd_send_signal: error " + e.getErrorCode();
                        });
            }
        }

        @Override
        public void close() {
            try {
                var unused = function("close").invokeInt(new Object[] {(int) fd});
            } catch (LastErrorException e) {
                // The descriptor is closed already.
            }
        }
    }
}
