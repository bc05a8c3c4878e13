package dev.gpuwarden.daemon.recorder;

import dev.gpuwarden.checks.view.EventView;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.event.StoredEvent;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** A zip file with everything known about one event, for the support or repair of the node. Pure. */
public final class SupportArchive {

    private static final String README = """
            Data of one health event, collected by gpuwarden.

            event.json      the event
            recording.json  readings, kernel lines and processes around it; missing where none were recorded
            others          the node at the time when this archive was made

            All files are JSON in UTF-8; times are UTC. They name pods, processes and serial numbers.
            """;

    private SupportArchive() {}

    /**
     * @param recording JSON, gzip'd
     * @param others further trees by the name of their file, without ending
     */
    public static byte[] zip(StoredEvent event, Optional<byte[]> recording, Map<String, Object> others) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            add(zip, event, "README.txt", README.getBytes(StandardCharsets.UTF_8));
            add(zip, event, "event.json", json(EventView.tree(event)));
            if (recording.isPresent()) {
                add(zip, event, "recording.json", unpacked(recording.get()));
            }
            for (Map.Entry<String, Object> other : others.entrySet()) {
                add(zip, event, other.getKey() + ".json", json(other.getValue()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static byte[] json(Object tree) {
        return (Output.json(tree) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] unpacked(byte[] gzip) throws IOException {
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(gzip))) {
            return in.readAllBytes();
        }
    }

    private static void add(ZipOutputStream zip, StoredEvent event, String name, byte[] content) throws IOException {
        ZipEntry entry = new ZipEntry(name);
        entry.setTime(event.received().toEpochMilli());
        zip.putNextEntry(entry);
        zip.write(content);
        zip.closeEntry();
    }
}
