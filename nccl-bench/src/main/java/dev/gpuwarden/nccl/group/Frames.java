package dev.gpuwarden.nccl.group;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The messages between processes. All numbers are big-endian, and each length has a bound. */
final class Frames {

    /** The first bytes of a process: a stranger sends others. */
    private static final byte[] MAGIC = {'G', 'P', 'U', 'W', 'B', 'N', 'C', 'H'};

    private static final int VERSION = 2;

    /** The message to a process when all are there. */
    static final byte[] COMPLETE = {};

    /** Length of the first message. */
    static final int HELLO_BYTES = MAGIC.length + 3 * Integer.BYTES;

    private Frames() {}

    /** The first message of a process. */
    record Hello(int process, int processes) {}

    static void writeHello(DataOutputStream out, Hello hello) throws IOException {
        out.write(MAGIC);
        out.writeInt(VERSION);
        out.writeInt(hello.process());
        out.writeInt(hello.processes());
        out.flush();
    }

    /**
     * Parses the first message.
     *
     * @param content as many bytes as {@link #HELLO_BYTES}
     * @throws IOException for anything but a process of this version
     */
    static Hello hello(byte[] content) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(content);
        byte[] magic = new byte[MAGIC.length];
        buffer.get(magic);
        if (!Arrays.equals(magic, MAGIC)) {
            throw new IOException("not a process of gpuwarden bench");
        }
        int version = buffer.getInt();
        if (version != VERSION) {
            throw new IOException("version " + version + " of the protocol, and " + VERSION + " is expected");
        }
        return new Hello(buffer.getInt(), buffer.getInt());
    }

    static void write(DataOutputStream out, byte[] content) throws IOException {
        out.writeInt(content.length);
        out.write(content);
    }

    static byte[] read(DataInputStream in, int most) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > most) {
            throw new IOException("a message of " + length + " bytes, and " + most + " are permitted");
        }
        byte[] content = in.readNBytes(length);
        if (content.length < length) {
            throw new EOFException();
        }
        return content;
    }

    static void writeAll(DataOutputStream out, List<byte[]> contents) throws IOException {
        for (byte[] content : contents) {
            write(out, content);
        }
        out.flush();
    }

    static List<byte[]> readAll(DataInputStream in, int count) throws IOException {
        List<byte[]> contents = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            contents.add(read(in, Exchange.MOST_BYTES));
        }
        return contents;
    }
}
