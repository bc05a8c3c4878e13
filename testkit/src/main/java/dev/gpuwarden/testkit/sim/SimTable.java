package dev.gpuwarden.testkit.sim;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The simulator's table, written by field name. Readers see a change as a whole; a lock orders the writers of all processes.
 */
public final class SimTable {

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    /** One lock per file and JVM: file locks hold between processes only. */
    private static final Map<Path, Object> LOCKS = new ConcurrentHashMap<>();

    private final Path file;
    private final SimLayout layout;
    private final MappedByteBuffer bytes;
    private final Object lock;

    private SimTable(Path file, SimLayout layout, MappedByteBuffer bytes) {
        this.file = file;
        this.layout = layout;
        this.bytes = bytes;
        this.lock = LOCKS.computeIfAbsent(file.toAbsolutePath().normalize(), p -> new Object());
    }

    /** Creates a table with the default of every field. */
    static SimTable create(Path file, SimLayout layout) {
        SimTable table = map(file, layout, StandardOpenOption.CREATE_NEW);
        table.fill("table", 0);
        return table;
    }

    /** Opens the table of a node, which another process may have created. */
    static SimTable open(Path file, SimLayout layout) {
        return map(file, layout, StandardOpenOption.READ);
    }

    private static SimTable map(Path file, SimLayout layout, StandardOpenOption mode) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, mode)) {
            MappedByteBuffer bytes = channel.map(FileChannel.MapMode.READ_WRITE, 0, layout.tableBytes());
            bytes.order(ByteOrder.nativeOrder());
            return new SimTable(file, layout, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void fill(String struct, int base) {
        for (SimLayout.Field field : layout.fields(struct).values()) {
            for (int i = 0; i < field.count(); i++) {
                int at = base + field.offset() + i * field.bytes();
                if (field.isNumber()) {
                    bytes.putLong(at, field.standard());
                } else if (!field.isText()) {
                    fill(field.type(), at);
                }
            }
        }
    }

    SimLayout layout() {
        return layout;
    }

    /** Applies one change of any size: no reader sees a part of it. */
    public void change(Consumer<SimTable> change) {
        synchronized (lock) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
                    FileLock turn = channel.lock(0, 1, false)) { // libcuda locks bytes beyond the table's end
                int sequence = layout.find("header.sequence").offset();
                long before = (long) LONGS.getVolatile((ByteBuffer) bytes, sequence);
                long odd = before | 1; // odd already where a writer was killed in the middle
                LONGS.setVolatile((ByteBuffer) bytes, sequence, odd);
                VarHandle.fullFence();
                try {
                    change.accept(this);
                } finally {
                    VarHandle.fullFence();
                    LONGS.setVolatile((ByteBuffer) bytes, sequence, odd + 1);
                }
                assert turn.isValid();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Returns a number, or {@link SimLayout#ABSENT} when the driver has none. */
    public long number(String path) {
        return (long) LONGS.getVolatile((ByteBuffer) bytes, target(path, true).offset());
    }

    /** Sets a number within {@link #change}; the values that scenarios refuse are possible too. */
    public void set(String path, long value) {
        LONGS.setVolatile((ByteBuffer) bytes, target(path, true).offset(), value);
    }

    /** Returns a text; empty when the driver has none. */
    public String text(String path) {
        SimLayout.Target target = target(path, false);
        byte[] raw = new byte[target.field().bytes()];
        bytes.get(target.offset(), raw);
        int end = 0;
        while (end < raw.length && raw[end] != 0) {
            end++;
        }
        return new String(raw, 0, end, StandardCharsets.UTF_8);
    }

    /** Writes a text, cut at the field's end. */
    void set(String path, String value) {
        SimLayout.Target target = target(path, false);
        byte[] raw = new byte[target.field().bytes()];
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(text, 0, raw, 0, Math.min(text.length, raw.length - 1));
        bytes.put(target.offset(), raw);
    }

    boolean isText(String path) {
        return layout.find(path).field().isText();
    }

    private SimLayout.Target target(String path, boolean number) {
        SimLayout.Target target = layout.find(path);
        if (number ? !target.field().isNumber() : !target.field().isText()) {
            throw new IllegalArgumentException(
                    path + " is of type " + target.field().type());
        }
        return target;
    }

    /** Copies one struct over another of the same type. */
    void copy(String from, String to) {
        SimLayout.Target source = layout.find(from);
        byte[] raw = new byte[source.field().bytes()];
        bytes.get(source.offset(), raw);
        bytes.put(layout.find(to).offset(), raw);
    }

    /** Resets a struct to its defaults. */
    void reset(String path) {
        SimLayout.Target target = layout.find(path);
        bytes.put(target.offset(), new byte[target.field().bytes()]);
        fill(target.field().type(), target.offset());
    }
}
