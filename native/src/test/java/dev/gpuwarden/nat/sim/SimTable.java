package dev.gpuwarden.nat.sim;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The simulated driver's table, written by member name: {@code gpu[0].link[3].state}. */
final class SimTable {

    private record Member(int offset, int size, String type, int count, String standard) {}

    private static final Pattern PART = Pattern.compile("(\\w+)(?:\\[(\\d+)])?");

    private static final Map<Path, Layout> LAYOUTS = new ConcurrentHashMap<>();

    private final Layout layout;
    private final ByteBuffer table;

    SimTable(Path layout, Path file) throws IOException {
        this.layout = LAYOUTS.computeIfAbsent(layout, Layout::read);
        byte[] defaults = this.layout.defaults();
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            table = channel.map(FileChannel.MapMode.READ_WRITE, 0, defaults.length)
                    .order(ByteOrder.nativeOrder());
        }
        table.put(0, defaults);
    }

    /** The layout of a table and its content before any change: read once, since hundreds of tests make a table. */
    private record Layout(Map<String, Map<String, Member>> structs, Map<String, Long> names, byte[] defaults) {

        static Layout read(Path file) {
            Map<String, Map<String, Member>> structs = new HashMap<>();
            Map<String, Long> names = new HashMap<>();
            int size = 0;
            for (String line : lines(file)) {
                String[] c = line.split("\t", -1);
                switch (c[0]) {
                    case "const", "function" -> names.put(c[1], Long.parseLong(c[2]));
                    case "size" -> size = c[1].equals("table") ? Integer.parseInt(c[3]) : size;
                    default -> {
                        if (!line.startsWith("#") && !c[0].equals("reset")) {
                            structs.computeIfAbsent(c[0], s -> new LinkedHashMap<>())
                                    .put(
                                            c[1],
                                            new Member(
                                                    Integer.parseInt(c[2]),
                                                    Integer.parseInt(c[3]),
                                                    c[4],
                                                    Integer.parseInt(c[5]),
                                                    c[6]));
                        }
                    }
                }
            }
            Layout layout = new Layout(structs, names, new byte[size]);
            layout.writeDefaults(ByteBuffer.wrap(layout.defaults).order(ByteOrder.nativeOrder()), "table", 0);
            return layout;
        }

        private static List<String> lines(Path file) {
            try {
                return Files.readAllLines(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void writeDefaults(ByteBuffer to, String struct, int base) {
            for (Member member : structs.get(struct).values()) {
                for (int i = 0; i < member.count() && !member.type().equals("str"); i++) {
                    int at = base + member.offset() + i * member.size();
                    if (member.type().equals("i64")) {
                        to.putLong(at, Long.parseLong(member.standard()));
                    } else {
                        writeDefaults(to, member.type(), at);
                    }
                }
            }
        }
    }

    /** In the order of the calls, also for the library that reads beside. */
    void set(String path, long value) {
        VarHandle.fullFence();
        table.putLong(at(path), value);
    }

    void set(String path, String value) {
        Long named = layout.names().get(value);
        if (named != null) {
            set(path, named);
            return;
        }
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        table.put(at(path), text).put(at(path) + text.length, (byte) 0);
    }

    long get(String path) {
        return table.getLong(at(path));
    }

    private int at(String path) {
        String struct = "table";
        int at = 0;
        for (String part : path.split("\\.")) {
            Matcher m = PART.matcher(part);
            Member member = m.matches() ? layout.structs().get(struct).get(m.group(1)) : null;
            if (member == null) {
                throw new IllegalArgumentException("the table has no " + path);
            }
            int index = m.group(2) == null ? 0 : Integer.parseInt(m.group(2));
            at += member.offset() + index * member.size();
            struct = member.type();
        }
        return at;
    }
}
