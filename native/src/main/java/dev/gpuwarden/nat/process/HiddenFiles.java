package dev.gpuwarden.nat.process;

import com.sun.jna.Function;
import com.sun.jna.LastErrorException;
import com.sun.jna.NativeLibrary;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntSupplier;

/**
 * Calls that cannot open some files, by Landlock: a thread without privileges gives up its own rights to them, and ends after the call.
 * Other threads keep theirs. Needs Linux 5.13 with Landlock switched on.
 */
@SuppressForbidden("system calls that Java has not")
public final class HiddenFiles {

    // The same on every architecture (asm-generic/unistd.h).
    private static final long LANDLOCK_CREATE_RULESET = 444;
    private static final long LANDLOCK_ADD_RULE = 445;
    private static final long LANDLOCK_RESTRICT_SELF = 446;

    // linux/landlock.h.
    private static final long CREATE_RULESET_VERSION = 1;
    private static final long RULE_PATH_BENEATH = 1;
    private static final long WRITE_AND_READ_FILE = 1 << 1 | 1 << 2;

    // linux/prctl.h and asm-generic/fcntl.h.
    private static final int PR_SET_NO_NEW_PRIVS = 38;
    private static final int O_PATH = 010000000;
    private static final int O_CLOEXEC = 02000000;

    private HiddenFiles() {}

    /** Returns whether the kernel can hide files from a thread. */
    public static boolean supported() {
        try {
            return syscall(LANDLOCK_CREATE_RULESET, 0L, 0L, CREATE_RULESET_VERSION) > 0;
        } catch (LastErrorException e) {
            return false;
        }
    }

    /**
     * Makes a call in a thread of its own that cannot open these files. Blocks until it returns.
     *
     * @return absent if the files could not be hidden; the call was not made then
     */
    public static Reading<Integer> call(Set<Path> hidden, IntSupplier call) {
        CompletableFuture<Reading<Integer>> result = new CompletableFuture<>();
        Thread thread = Threads.daemon("gpuwarden-hidden-files", () -> {
            try {
                restrict(hidden);
                result.complete(Reading.of(call.getAsInt()));
            } catch (LastErrorException e) {
                result.complete(Reading.absent(Absence.NOT_SUPPORTED, e.getErrorCode(), "Landlock: " + e.getMessage()));
            } catch (IOException e) {
                result.complete(Reading.absent(Absence.NOT_SUPPORTED, 0, "Landlock: " + e));
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
        thread.start();
        try {
            return result.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        }
    }

    private static void restrict(Set<Path> hidden) throws IOException {
        int rules;
        try (NativeMemory attributes = NativeMemory.allocate(8)) {
            attributes.buffer().putLong(0, WRITE_AND_READ_FILE);
            rules = (int) syscall(LANDLOCK_CREATE_RULESET, attributes.address(), 8L, 0L);
        }
        try {
            allowAllBut(hidden, Path.of("/"), rules);
            var unused = function("prctl").invokeInt(new Object[] {PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L});
            syscall(LANDLOCK_RESTRICT_SELF, rules, 0L);
        } finally {
            close(rules);
        }
    }

    /** Landlock has rules that allow, and none that forbid. */
    private static void allowAllBut(Set<Path> hidden, Path folder, int rules) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                if (Files.isSymbolicLink(entry) || hidden.contains(entry)) {
                    continue;
                }
                if (hidden.stream().anyMatch(file -> file.startsWith(entry))) {
                    allowAllBut(hidden, entry, rules);
                } else {
                    allow(entry, rules);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private static void allow(Path entry, int rules) {
        int file;
        try {
            file = function("open").invokeInt(new Object[] {entry.toString(), O_PATH | O_CLOEXEC});
        } catch (LastErrorException e) {
            // Gone since the listing, or no right to it, which the thread then does not have either.
            return;
        }
        try (NativeMemory rule = NativeMemory.allocate(16)) {
            rule.buffer().putLong(0, WRITE_AND_READ_FILE).putInt(8, file);
            syscall(LANDLOCK_ADD_RULE, rules, RULE_PATH_BENEATH, rule.address(), 0L);
        } finally {
            close(file);
        }
    }

    private static void close(int file) {
        var unused = function("close").invokeInt(new Object[] {file});
    }

    private static long syscall(long number, Object... arguments) {
        Object[] all = new Object[arguments.length + 1];
        all[0] = number;
        for (int i = 0; i < arguments.length; i++) {
            all[i + 1] = arguments[i] instanceof Integer small ? (Object) small.longValue() : arguments[i];
        }
        return function("syscall").invokeLong(all);
    }

    private static Function function(String name) {
        return NativeLibrary.getProcess().getFunction(name, Function.THROW_LAST_ERROR);
    }
}
