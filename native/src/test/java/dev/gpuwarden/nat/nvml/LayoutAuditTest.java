package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.nat.sim.SimNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The Java mirror against what the C compiler lays out, which the C side has compared with measured numbers. */
class LayoutAuditTest {

    private static final Pattern VERSION = Pattern.compile("(\\w+)_v(\\d+)");

    /** By "struct.field", and "struct" for sizeof: "offset:size". */
    private static final Map<String, String> COMPILED = new TreeMap<>();

    private static final Map<String, String> VERSION_WORDS = new TreeMap<>();

    @BeforeAll
    static void readAudit() throws IOException {
        Path audit = SimNode.built().resolve("layout-audit.tsv");
        for (String line : Files.readAllLines(audit)) {
            String[] c = line.split("\t");
            if (c[0].equals("version")) {
                VERSION_WORDS.put(c[1], c[2]);
            } else {
                COMPILED.put(c[1].equals("-") ? c[0] : c[0] + "." + c[1], c[2] + ":" + c[3]);
            }
        }
    }

    @Test
    void everyStructOfEitherSideIsLaidOutAlike() {
        Map<String, String> mirrored = new TreeMap<>();
        for (CStruct struct : NvmlStructs.all()) {
            mirrored.put(struct.name(), "0:" + struct.size());
            for (CStruct.Field field : struct.fields()) {
                mirrored.put(struct.name() + "." + field.name(), field.offset() + ":" + field.bytes());
            }
        }
        // A union is one field here; the compiler lists its members.
        COMPILED.keySet().removeIf(name -> name.startsWith("nvmlValue_t."));
        List<String> differences = new ArrayList<>();
        TreeSet<String> names = new TreeSet<>(mirrored.keySet());
        names.addAll(COMPILED.keySet());
        for (String name : names) {
            String java = mirrored.getOrDefault(name, "not there");
            String c = COMPILED.getOrDefault(name, "not there");
            if (!java.equals(c)) {
                differences.add(name + ": structs.txt " + java + ", compiler " + c);
            }
        }
        assertThat(names).hasSizeGreaterThan(300);
        assertThat(differences).isEmpty();
    }

    @Test
    void everyVersionWordIsSizeAndVersion() {
        assertThat(VERSION_WORDS).isNotEmpty().allSatisfy((name, word) -> {
            Matcher version = VERSION.matcher(name);
            assertThat(version.matches()).isTrue();
            CStruct struct = NvmlStructs.of(name + "_t");
            assertThat(struct.versionWord(Integer.parseInt(version.group(2)))).isEqualTo(Integer.decode(word));
        });
    }
}
