package dev.gpuwarden.daemon.app;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A disk that is full from a byte on: the kernel cuts the write that would exceed it. For a JVM that writes nothing else. */
public abstract class FullDisk implements AutoCloseable {

    /** The size of a page: a tmpfs is full at a multiple of it. */
    public static final int PAGE = 4096;

    /** Steps between the bytes at which writes are cut. The sample of a usual run has no common factor with a length. */
    public static final int STEP = Integer.getInteger("gpuwarden.cuts.step", 41);

    public final Path folder;

    private FullDisk(Path folder) {
        this.folder = folder;
    }

    /** No file grows beyond this many bytes. */
    public abstract void full(long bytes) throws IOException;

    /** There is room again. */
    public abstract void free() throws IOException;

    @Override
    public abstract void close() throws IOException;

    /**
     * @param args a folder of a disk with room; and `tmpfs` if it is a small tmpfs, which is full at one page, in place of a limit on files of
     *     this process
     */
    public static FullDisk of(String... args) throws IOException {
        Path folder = Path.of(args[0]);
        return args.length > 1 ? new Tmpfs(folder) : new SizeLimit(folder);
    }

    /** The limit of the kernel on the size of files (RLIMIT_FSIZE), to the byte. */
    private static final class SizeLimit extends FullDisk {

        private final Process shell;
        private final BufferedReader done;

        SizeLimit(Path folder) throws IOException {
            super(folder);
            shell = new ProcessBuilder(
                            "sh",
                            "-c",
                            "while read n; do prlimit --pid $0 --fsize=$n: || exit; echo; done",
                            String.valueOf(ProcessHandle.current().pid()))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            done = new BufferedReader(new InputStreamReader(shell.getInputStream(), StandardCharsets.US_ASCII));
        }

        private void limit(String bytes) throws IOException {
            OutputStream in = shell.getOutputStream();
            in.write((bytes + "\n").getBytes(StandardCharsets.US_ASCII));
            in.flush();
            if (done.readLine() == null) {
                throw new IOException("prlimit set no limit");
            }
        }

        @Override
        public void full(long bytes) throws IOException {
            limit(String.valueOf(bytes));
        }

        @Override
        public void free() throws IOException {
            limit("unlimited");
        }

        @Override
        public void close() {
            shell.destroy();
        }
    }

    private static final class Tmpfs extends FullDisk {

        Tmpfs(Path folder) {
            super(folder);
        }

        private Path filler() {
            return folder.resolve("filler");
        }

        @Override
        public void full(long bytes) {
            if (bytes != PAGE) {
                throw new IllegalArgumentException("expected " + PAGE + " bytes");
            }
            try (OutputStream out = Files.newOutputStream(filler())) {
                for (byte[] page = new byte[PAGE]; ; ) {
                    out.write(page);
                }
            } catch (IOException e) {
                // It is full.
            }
        }

        @Override
        public void free() throws IOException {
            Files.deleteIfExists(filler());
        }

        @Override
        public void close() throws IOException {
            free();
        }
    }

    /** Removes all files, between two cases. */
    public void empty() throws IOException {
        free();
        try (var all = Files.list(folder)) {
            for (Path each : all.toList()) {
                Files.delete(each);
            }
        }
    }

    /** Ends the JVM with an error if the condition is false. */
    public static void check(boolean condition, String text) {
        if (!condition) {
            throw new AssertionError(text);
        }
    }
}
