package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.nat.nvml.CStruct;
import dev.gpuwarden.nat.nvml.NvmlStructs;
import dev.gpuwarden.nat.nvml.NvmlSymbol;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The sources of all readings, from {@code plan.txt}. */
public final class TelemetryPlan {

    private static final int ALL_LINKS = 0xffff_ffff;

    private TelemetryPlan() {}

    public static List<Step> of(Cadence cadence) {
        try (InputStream in = Objects.requireNonNull(TelemetryPlan.class.getResourceAsStream("plan.txt"))) {
            return parse(new String(in.readAllBytes(), StandardCharsets.US_ASCII))
                    .getOrDefault(cadence, List.of());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @throws IllegalArgumentException with the line that is no step */
    static Map<Cadence, List<Step>> parse(String text) {
        Map<Cadence, List<Step>> plans = new EnumMap<>(Cadence.class);
        List<Step> steps = new ArrayList<>();
        for (String line :
                text.replaceAll("(?m)^#.*\n", "").replaceAll("\n +", " ").split("\n")) {
            try {
                if (line.equals("LINKS")) {
                    steps.addAll(LinkPlan.steps());
                } else if (line.indexOf(' ') < 0) {
                    steps = plans.computeIfAbsent(Cadence.valueOf(line), cadence -> new ArrayList<>());
                } else {
                    steps.add(step(line));
                }
            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                throw new IllegalArgumentException("plan.txt: " + e.getMessage() + ": " + line, e);
            }
        }
        return plans;
    }

    private static Step step(String line) {
        String[] halves = line.split(": ", 2);
        String[] words = halves[0].split(" ");
        NvmlSymbol symbol = NvmlSymbol.valueOf(words[0]);
        Shape shape = Shape.valueOf(words[1]);
        Stream<String[]> values = Stream.of(halves[1].split("; ")).map(value -> value.split(" "));
        if (shape == Shape.FIELDS) {
            return new Step.Fields(symbol, values.map(TelemetryPlan::field).toList());
        }
        List<Integer> arguments = new ArrayList<>();
        CStruct struct = null;
        int version = 0;
        for (int i = 2; i < words.length; i++) {
            if (words[i].startsWith("nvml")) {
                String[] versioned = words[i].split("/");
                struct = NvmlStructs.of(versioned[0]);
                version = versioned.length == 1 ? 0 : struct.versionWord(Integer.parseInt(versioned[1]));
            } else {
                arguments.add(Integer.parseInt(words[i]));
            }
        }
        CStruct results = struct;
        return new Step.Call(
                symbol,
                shape,
                List.copyOf(arguments),
                version,
                values.map(value -> take(value, results)).toList());
    }

    private static Field field(String[] value) {
        String[] id = value[0].split("@all", -1);
        return new Field(Integer.parseInt(id[0]), id.length == 1 ? 0 : ALL_LINKS, slot(value[1]));
    }

    private static Take take(String[] value, @Nullable CStruct struct) {
        boolean sum = value[0].startsWith("+");
        int offset = struct == null ? Integer.parseInt(value[1]) : struct.offset(value[1]);
        return new Take(offset, Take.Width.valueOf(value[0].substring(sum ? 1 : 0)), slot(value[2]), sum);
    }

    private static int slot(String metric) {
        return GpuFrame.slot(GpuMetric.valueOf(metric));
    }
}
