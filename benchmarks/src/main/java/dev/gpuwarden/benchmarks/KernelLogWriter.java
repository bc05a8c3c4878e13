package dev.gpuwarden.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Writes records to a simulated node's kernel log, with one system call for each write. The node's own writer locks and
 * rewrites its state each time, which is too slow for a benchmark. Use one or the other.
 */
final class KernelLogWriter implements AutoCloseable {

    private final Path file;
    private final long began = System.nanoTime();
    private final long firstMicros;
    private long next;
    private FileChannel channel;

    KernelLogWriter(Path file) throws IOException {
        this.file = file;
        List<String> records = Files.readAllLines(file, StandardCharsets.ISO_8859_1).stream()
                .filter(line -> !line.startsWith(" "))
                .toList();
        String[] last = records.get(records.size() - 1).split(",", 4);
        next = Long.parseLong(last[1]) + 1;
        firstMicros = Long.parseLong(last[2]) + 1_000_000;
        channel = open();
    }

    private FileChannel open() throws IOException {
        return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
    }

    /** @param texts plain ASCII, like the kernel's own messages */
    void write(List<String> texts) throws IOException {
        long micros = firstMicros + (System.nanoTime() - began) / 1000;
        StringBuilder records = new StringBuilder();
        for (String text : texts) {
            records.append("4,")
                    .append(next++)
                    .append(',')
                    .append(micros)
                    .append(",-;")
                    .append(text)
                    .append('\n');
        }
        ByteBuffer bytes = ByteBuffer.wrap(records.toString().getBytes(StandardCharsets.US_ASCII));
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** Rotates the log like logrotate. The log before the last one is deleted. */
    void rotate() throws IOException {
        channel.close();
        Files.move(file, file.resolveSibling(file.getFileName() + ".1"), StandardCopyOption.REPLACE_EXISTING);
        channel = open();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
