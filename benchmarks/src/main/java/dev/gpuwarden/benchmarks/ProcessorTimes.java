package dev.gpuwarden.benchmarks;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The processor time of this process and of the programs that it has started, in seconds, by the name of the program. */
record ProcessorTimes(Map<String, Double> seconds) {

    static ProcessorTimes now() {
        Map<String, Double> all = new TreeMap<>();
        all.put("load", seconds(ProcessHandle.current()));
        ProcessHandle.current()
                .descendants()
                .forEach(each -> each.info()
                        .command()
                        .ifPresent(command -> all.merge(name(command), seconds(each), Double::sum)));
        return new ProcessorTimes(all);
    }

    /** Returns the name of a program. The aggregator is the only other one in Java. */
    private static String name(String command) {
        String file = Path.of(command).getFileName().toString();
        return file.equals("java") ? "aggregator" : file;
    }

    private static double seconds(ProcessHandle process) {
        return process.info()
                .totalCpuDuration()
                .map(time -> time.toNanos() / 1e9)
                .orElse(0.0);
    }

    /** Returns the milliseconds since then, for each of a number of things, as text. */
    String sinceForEach(ProcessorTimes before, int things) {
        return seconds.entrySet().stream()
                .map(each -> String.format(
                        Locale.ROOT,
                        "%s %.0f ms",
                        each.getKey(),
                        (each.getValue() - before.seconds.getOrDefault(each.getKey(), 0.0)) * 1000 / things))
                .collect(Collectors.joining(", "));
    }
}
