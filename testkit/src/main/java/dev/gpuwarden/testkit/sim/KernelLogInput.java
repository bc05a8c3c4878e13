package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.Execution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The writable side of a node's /dev/kmsg: a FIFO whose lines become records of user space, each write a record of its own, as on the
 * device. A thread reads it until {@link #close()}; afterwards writers wait for a reader.
 */
final class KernelLogInput implements AutoCloseable {

    /** Lines per second that are kept; the kernel keeps fewer of a process, and counts the rest in a line of its own. */
    static final int MOST_PER_SECOND = 200;

    /** The capacity of a pipe: a read returns whole writes of up to PIPE_BUF, so no write is taken for two. */
    private static final int PIPE_BYTES = 65_536;

    private static final System.Logger LOG = System.getLogger(KernelLogInput.class.getName());

    private final FileChannel fifo;
    private final Consumer<List<KernelLine>> log;
    private final Thread reader;

    private long second = Long.MIN_VALUE;
    private int kept;
    private long suppressed;

    private KernelLogInput(FileChannel fifo, Consumer<List<KernelLine>> log) {
        this.fifo = fifo;
        this.log = log;
        reader = new Thread(this::read, "simulated-kernel-log-input");
        reader.setDaemon(true);
    }

    /**
     * Creates the FIFO, for its owner alone, and reads it.
     *
     * @param log receives the lines of one write, in the reading thread
     */
    static KernelLogInput open(Path file, Consumer<List<KernelLine>> log) {
        try {
            create(file);
            // Open for both: reads wait, instead of an end with each writer's end.
            KernelLogInput input =
                    new KernelLogInput(FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE), log);
            input.reader.start();
            return input;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The JDK makes no FIFOs. */
    private static void create(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Execution mkfifo =
                Execution.of(new ProcessBuilder("mkfifo", "-m", "600", file.toString()).redirectErrorStream(true));
        if (mkfifo.code() != 0) {
            throw new IOException(file + ": mkfifo failed: " + mkfifo.output().strip());
        }
    }

    private void read() {
        ByteBuffer bytes = ByteBuffer.allocate(PIPE_BYTES);
        while (true) {
            try {
                bytes.clear();
                if (fifo.read(bytes) < 0) {
                    return;
                }
                write(lines(new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8)));
            } catch (ClosedChannelException closed) {
                return;
            } catch (IOException | RuntimeException e) {
                // The lines are lost; the node and its other writers go on.
                LOG.log(System.Logger.Level.WARNING, "kernel log of a simulated node", e);
            }
        }
    }

    private void write(List<KernelLine> lines) {
        if (!lines.isEmpty()) {
            log.accept(lines);
        }
    }

    /** Returns the lines of a write that are kept. */
    private List<KernelLine> lines(String text) {
        List<KernelLine> lines = new ArrayList<>();
        text.lines().filter(line -> !line.isEmpty()).forEach(line -> {
            long now = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime());
            if (now != second) {
                second = now;
                kept = 0;
                if (suppressed > 0) {
                    lines.add(KernelLine.kernel(
                            "printk: " + suppressed + " output lines suppressed due to ratelimiting"));
                    suppressed = 0;
                }
            }
            if (kept < MOST_PER_SECOND) {
                kept++;
                lines.add(KernelLine.user(line));
            } else {
                suppressed++;
            }
        });
        return lines;
    }

    /** Waits until the last line that was read is in the log. */
    @Override
    public void close() {
        try {
            // Interrupts the read.
            fifo.close();
            reader.join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
