package dev.gpuwarden.testkit.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.gpuwarden.testkit.scenario.Generation;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.NativeFiles;
import dev.gpuwarden.testkit.sim.SimLayout;
import dev.gpuwarden.testkit.sim.SimTable;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The real nvidia-smi prints of a simulated node what the scenario put there, in nvidia-smi's own words. Not of `busy500`: it asks
 * for processes once, with a buffer that 500 do not fit in, and prints "Unknown Error".
 */
@Tag("programs")
class NvidiaSmiAgreesTest {

    /** Values that it prints differently, with the reason: SCENARIO/GPU/FIELD, or the field for all of them. */
    private static final Map<String, String> EXCEPTIONS = Map.of(
            "enforced.power.limit",
            "asked for through a private call of the driver that the simulator does not serve",
            "a100-mig/0/utilization.gpu",
            "not known for a GPU in MIG mode",
            "a100-mig/0/utilization.memory",
            "not known for a GPU in MIG mode");

    private static final Map<String, BiFunction<SimTable, String, String>> FIELDS = new LinkedHashMap<>();

    static {
        text("name", "name");
        text("uuid", "uuid");
        text("serial", "serial");
        text("vbios_version", "vbios");
        text("inforom.img", "inforom_image");
        text("inforom.oem", "inforom_oem");
        text("inforom.ecc", "inforom_ecc");
        FIELDS.put(
                "pci.bus_id",
                (table, gpu) -> String.format(
                        Locale.ROOT,
                        "%08X:%02X:%02X.0",
                        table.number(gpu + ".pci_domain"),
                        table.number(gpu + ".pci_bus"),
                        table.number(gpu + ".pci_device")));
        FIELDS.put("pci.device_id", (t, gpu) -> String.format(Locale.ROOT, "0x%08X", t.number(gpu + ".pci_device_id")));
        FIELDS.put("pstate", (table, gpu) -> "P" + table.number(gpu + ".pstate"));
        for (String part : List.of("total", "reserved", "used")) {
            number("memory." + part, "mem_" + part, bytes -> Long.toString(bytes >> 20));
        }
        number("utilization.gpu", "util_gpu", Long::toString);
        number("utilization.memory", "util_mem", Long::toString);
        number("temperature.gpu", "temp_gpu", Long::toString);
        number("temperature.memory", "temp_memory", Long::toString);
        number("power.draw", "power_usage", NvidiaSmiAgreesTest::watts);
        number("power.limit", "power_limit", NvidiaSmiAgreesTest::watts);
        number("enforced.power.limit", "power_enforced", NvidiaSmiAgreesTest::watts);
        number("power.default_limit", "power_default", NvidiaSmiAgreesTest::watts);
        number("power.min_limit", "power_min", NvidiaSmiAgreesTest::watts);
        number("power.max_limit", "power_max", NvidiaSmiAgreesTest::watts);
        number("clocks.gr", "clock[0]", Long::toString);
        number("clocks.sm", "clock[1]", Long::toString);
        number("clocks.mem", "clock[2]", Long::toString);
        number("clocks.video", "clock[3]", Long::toString);
        number("clocks.max.gr", "clock_max[0]", Long::toString);
        number("clocks.max.sm", "clock_max[1]", Long::toString);
        number("clocks.max.mem", "clock_max[2]", Long::toString);
        number("clocks.applications.gr", "clock_app[0]", Long::toString);
        number("clocks.applications.mem", "clock_app[2]", Long::toString);
        number("pcie.link.gen.current", "pcie_gen", Long::toString);
        number("pcie.link.gen.max", "pcie_gen_max", Long::toString);
        number("pcie.link.width.current", "pcie_width", Long::toString);
        number("pcie.link.width.max", "pcie_width_max", Long::toString);
        number("ecc.mode.current", "ecc_current", NvidiaSmiAgreesTest::enabled);
        number("ecc.errors.corrected.volatile.total", "ecc_total[0]", Long::toString);
        number("ecc.errors.uncorrected.volatile.total", "ecc_total[2]", Long::toString);
        number("ecc.errors.corrected.aggregate.total", "ecc_total[1]", Long::toString);
        number("ecc.errors.uncorrected.aggregate.total", "ecc_total[3]", Long::toString);
        number("retired_pages.single_bit_ecc.count", "retired_sbe", Long::toString);
        number("retired_pages.double_bit.count", "retired_dbe", Long::toString);
        number("mig.mode.current", "mig_current", NvidiaSmiAgreesTest::enabled);
        number("persistence_mode", "persistence", NvidiaSmiAgreesTest::enabled);
        number("compute_mode", "compute_mode", mode -> mode == 0 ? "Default" : "mode " + mode);
    }

    private static void text(String field, String column) {
        FIELDS.put(field, (table, gpu) -> table.text(gpu + "." + column));
    }

    private static void number(String field, String column, java.util.function.LongFunction<String> print) {
        FIELDS.put(field, (table, gpu) -> {
            long number = table.number(gpu + "." + column);
            return number == SimLayout.ABSENT ? "N/A" : print.apply(number);
        });
    }

    private static String watts(long milliwatts) {
        return String.format(Locale.ROOT, "%d.%02d", milliwatts / 1000, milliwatts % 1000 / 10);
    }

    private static String enabled(long flag) {
        return flag == 1 ? "Enabled" : "Disabled";
    }

    @ParameterizedTest
    @ValueSource(strings = {"t4", "l4x4", "a100x8", "h100x8", "h200x8", "a100-mig", "memory-hog", "big64"})
    void nvidiaSmiPrintsScenarioValues(String name) throws IOException, InterruptedException {
        Path smi = Tools.need("nvidia-smi", "bin/nvidia-smi", "nvidia-smi");
        Scenario scenario = Scenarios.find(name, NativeFiles.find().vocabulary());
        try (SimulatedNode node = SimulatedNode.start(scenario.withDriver(generation(smi)))) {
            SimTable table = node.control().table();
            List<String> lines = Tools.run(
                            node,
                            Map.of(),
                            smi.toString(),
                            "--query-gpu=" + String.join(",", FIELDS.keySet()),
                            "--format=csv,noheader,nounits")
                    .lines()
                    .toList();
            assertThat(lines).hasSize(node.control().gpuCount());
            List<String> differences = new ArrayList<>();
            for (int gpu = 0; gpu < lines.size(); gpu++) {
                String[] cells = lines.get(gpu).split(", ");
                int cell = 0;
                for (var field : FIELDS.entrySet()) {
                    String expected = field.getValue().apply(table, "gpu[" + gpu + "]");
                    String seen = cells[cell++].replaceAll("^\\[(.*)]$", "$1");
                    String where = name + "/" + gpu + "/" + field.getKey();
                    if (!seen.equals(expected)
                            && !EXCEPTIONS.containsKey(where)
                            && !EXCEPTIONS.containsKey(field.getKey())) {
                        differences.add(where + ": expected " + expected + ", printed " + seen);
                    }
                }
            }
            assertThat(differences).isEmpty();
            assertThat(processes(node, smi)).isEqualTo(processes(table));
        }
    }

    private static List<String> processes(SimulatedNode node, Path smi) throws IOException, InterruptedException {
        return Tools.run(
                        node,
                        Map.of(),
                        smi.toString(),
                        "--query-compute-apps=gpu_uuid,pid,name,used_memory",
                        "--format=csv,noheader,nounits")
                .lines()
                .sorted()
                .toList();
    }

    private static List<String> processes(SimTable table) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < table.number("header.process_count"); i++) {
            String p = "process[" + i + "].";
            lines.add(table.text("gpu[" + table.number(p + "gpu") + "].uuid") + ", " + table.number(p + "pid") + ", "
                    + table.text(p + "name") + ", " + (table.number(p + "bytes") >> 20));
        }
        return lines.stream().sorted().toList();
    }

    /** nvidia-smi shares private calls with the library of its own version, so the node gets that generation's. */
    private static Generation generation(Path smi) throws IOException, InterruptedException {
        Process help = new ProcessBuilder(smi.toString(), "-h")
                .redirectErrorStream(true)
                .start();
        String text = new String(help.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        help.waitFor();
        Matcher version = Pattern.compile("v(\\d+)\\.").matcher(text);
        assertThat(version.find()).as(text).isTrue();
        return switch (version.group(1)) {
            case "535" -> Generation.D535_161;
            case "550" -> Generation.D550;
            default -> abort("nvidia-smi " + version.group() + ": its fields are not those of 535 and 550");
        };
    }
}
