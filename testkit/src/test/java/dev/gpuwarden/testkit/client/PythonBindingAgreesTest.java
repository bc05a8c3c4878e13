package dev.gpuwarden.testkit.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.scenario.Keys;
import dev.gpuwarden.testkit.scenario.Keys.Key;
import dev.gpuwarden.testkit.sim.SimLayout;
import dev.gpuwarden.testkit.sim.SimTable;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * NVIDIA's Python binding (nvidia-ml-py) reads from a simulated node what the scenario put there. Not of `driver-470`: the binding
 * has no way to list processes without the `_v3` calls.
 */
@Tag("programs")
class PythonBindingAgreesTest {

    /** Keys for which the binding returns another value than the table, with the reason. */
    private static final Map<String, String> EXCEPTIONS = Map.of(
            "a100-mig/0/utilization.gpu", "not known for a GPU in MIG mode",
            "a100-mig/0/utilization.memory", "not known for a GPU in MIG mode");

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "t4",
                "l4x4",
                "a100x8",
                "h100x8",
                "h200x8",
                "b200x8",
                "a100-mig",
                "memory-hog",
                "driver-535.161",
                "busy500",
                "big64"
            })
    void readsTheValuesOfTheScenario(String scenario) throws IOException, InterruptedException {
        Path site = Tools.need("nvidia-ml-py", "python/pynvml.py").getParent();
        Path script = folder.resolve("read_nvml.py");
        try (var in = Objects.requireNonNull(getClass().getResourceAsStream("read_nvml.py"))) {
            Files.write(script, in.readAllBytes());
        }
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            String output = Tools.run(
                    node,
                    Map.of("PYTHONPATH", String.valueOf(site), "PYTHONDONTWRITEBYTECODE", "1"),
                    "python3",
                    script.toString());
            List<String> differences = new ArrayList<>();
            List<String> lines = output.lines().toList();
            for (String line : lines) {
                String[] cells = line.split("\t", 3);
                String expected = expected(node.control().table(), cells[0], cells[1]);
                String where = scenario + "/" + cells[0] + "/" + cells[1];
                if (!expected.equals(cells[2]) && !EXCEPTIONS.containsKey(where)) {
                    differences.add(where + ": expected " + expected + ", read " + cells[2]);
                }
            }
            assertThat(differences).isEmpty();
            assertThat(lines).hasSizeGreaterThan(60 * node.control().gpuCount());
        }
    }

    private static String expected(SimTable table, String gpu, String key) {
        if (gpu.equals("node")) {
            return value(table, "header", Keys.NODE.get(key), 0);
        }
        String row = "gpu[" + gpu + "]";
        if (key.equals("v1.memory.used")) {
            return Long.toString(table.number(row + ".mem_used") + table.number(row + ".mem_reserved"));
        }
        if (key.equals("recovery-action")
                && !table.text("header.driver_version").matches("(58|61).*")) {
            return "!2"; // field 230 is newer than these drivers
        }
        if (key.startsWith("process.")) {
            return processBytes(table, Integer.parseInt(gpu), Long.parseLong(key.substring("process.".length())));
        }
        Keys.Match match = Keys.GPU.find(key).orElseThrow();
        return value(table, row, match.key(), Math.max(0, match.element()));
    }

    private static String processBytes(SimTable table, int gpu, long pid) {
        for (int i = 0; i < table.number("header.process_count"); i++) {
            String process = "process[" + i + "]";
            if (table.number(process + ".gpu") == gpu && table.number(process + ".pid") == pid) {
                return number(table.number(process + ".bytes"));
            }
        }
        return "no such process";
    }

    private static String value(SimTable table, String row, Key key, int element) {
        if (key.name().equals("pci.address")) {
            return String.format(
                    Locale.ROOT,
                    "%04x:%02x:%02x.0",
                    table.number(row + ".pci_domain"),
                    table.number(row + ".pci_bus"),
                    table.number(row + ".pci_device"));
        }
        String path = row + "." + key.fields().get(0).replace("[*]", "[" + element + "]");
        return key.isText() ? table.text(path) : number(table.number(path));
    }

    /** The answer of the driver for an absent value: NOT_SUPPORTED. */
    private static String number(long number) {
        return number == SimLayout.ABSENT ? "!3" : Long.toString(number);
    }
}
