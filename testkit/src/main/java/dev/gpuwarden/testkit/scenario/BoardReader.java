package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads board profiles. */
final class BoardReader {

    private BoardReader() {}

    static Board read(String name, Yaml yaml) {
        Fields f = new Fields(yaml, name, "slots", "nic", "values", "mig");
        List<Board.Slot> slots = f.require("slots").items("slots").stream()
                .map(BoardReader::slot)
                .toList();
        Map<String, MigProfile> mig = new LinkedHashMap<>();
        f.get("mig").ifPresent(y -> y.entries("mig").forEach(e -> mig.put(e.key(), mig(e))));
        return new Board(
                name,
                slots,
                f.map("nic", BoardReader::nic),
                Settings.read(Keys.GPU, f.require("values"), "values"),
                mig);
    }

    private static Board.Slot slot(Yaml yaml) {
        Fields f = new Fields(yaml, "slot", "address", "numa", "cpus", "nic");
        PciAddress at = address(f.require("address"));
        List<Long> cpus = numbers(Fields.parse(f.require("cpus"), "cpus", Form.of("range")));
        return new Board.Slot(
                at,
                f.number("numa", 0, 0, 63),
                cpus.get(0).intValue(),
                cpus.get(1).intValue(),
                f.map("nic", BoardReader::address));
    }

    private static PciAddress address(Yaml yaml) {
        return PciAddress.parse(yaml.text("address")).orElseThrow(() -> yaml.problem("address", "a PCI address"));
    }

    private static Board.NicKind nic(Yaml yaml) {
        Fields f = new Fields(yaml, "nic", "device", "model", "board", "firmware", "rate");
        int device = numbers(Fields.parse(f.require("device"), "device", Form.of("number")))
                .get(0)
                .intValue();
        return new Board.NicKind(
                new Nic.Model(device, f.text("model", ""), f.text("board", ""), f.text("firmware", "")),
                f.number("rate", 0, 1, 10_000));
    }

    private static MigProfile mig(Yaml.Entry entry) {
        Fields f = new Fields(
                entry.value(),
                entry.key(),
                "id",
                "slices",
                "memory-slices",
                "multiprocessors",
                "copy-engines",
                "decoders",
                "jpegs",
                "ofas",
                "memory");
        return new MigProfile(
                entry.key(),
                f.number("id", 0, 0, 99),
                f.number("slices", 1, 1, 8),
                f.number("memory-slices", 1, 1, 8),
                f.number("multiprocessors", 0, 1, 999),
                f.number("copy-engines", 0, 0, 99),
                f.number("decoders", 0, 0, 99),
                f.number("jpegs", 0, 0, 99),
                f.number("ofas", 0, 0, 99),
                numbers(Fields.parse(f.require("memory"), "memory", Form.of("bytes")))
                        .get(0));
    }

    private static List<Long> numbers(Value value) {
        if (value instanceof Value.Numbers n) {
            return n.numbers();
        }
        throw new IllegalStateException("a board cannot leave this absent");
    }
}
