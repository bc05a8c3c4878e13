package dev.gpuwarden.daemon.grpc;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import java.io.IOException;

/**
 * Counts the fields of a message before it is parsed into objects. Two bytes on the wire can become an object of a
 * hundred bytes, so that a message of 4 MiB could use all memory. Pure.
 */
final class FieldCounter {

    /** A thousand events with all fields of real senders have 40,000. */
    static final int MAX_FIELDS = 100_000;

    private static final int MAX_DEPTH = 16;

    private final CodedInputStream in;
    private int fields;

    private FieldCounter(CodedInputStream in) {
        this.in = in;
    }

    /**
     * Returns the number of fields, including those of inner messages.
     *
     * @throws InvalidProtocolBufferException if it is no message, nests too deep or has more than {@link #MAX_FIELDS}
     */
    static int fields(byte[] message, Descriptor type) throws IOException {
        FieldCounter scan = new FieldCounter(CodedInputStream.newInstance(message));
        scan.message(type, 0);
        return scan.fields;
    }

    private void message(Descriptor type, int depth) throws IOException {
        if (depth > MAX_DEPTH) {
            throw new InvalidProtocolBufferException("messages nest deeper than " + MAX_DEPTH);
        }
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            if (++fields > MAX_FIELDS) {
                throw new InvalidProtocolBufferException("more than " + MAX_FIELDS + " fields");
            }
            FieldDescriptor field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
            boolean inner = field != null && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
            if (inner && WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                int outer = in.pushLimit(in.readRawVarint32());
                message(field.getMessageType(), depth + 1);
                in.popLimit(outer);
            } else if (WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_START_GROUP) {
                // Groups are obsolete; skipping one would count none of its fields.
                throw new InvalidProtocolBufferException("a group, which no message of this interface has");
            } else {
                in.skipField(tag);
            }
        }
    }
}
