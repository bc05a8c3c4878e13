package dev.gpuwarden.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Counts the programs that start on this machine while tests run, by polling /proc: programs that a test starts through
 * scripts and other programs are counted too. One thread calls {@link #poll()}.
 */
final class Starts {

    /** Reads of /proc per process: a new process has the name of its parent until it runs its own program. */
    private static final int READS = 4;

    /** Names in Linux, cut to 15 characters, and names in the output. */
    private static final Map<String, String> PROGRAMS = Map.of(
            "kube-apiserver", "API servers",
            "kubelet", "nodes",
            "kubectl", "kubectl",
            "etcd", "etcd",
            "containerd", "containerd",
            "openssl", "openssl");

    private final Path proc;
    private final Set<String> before;
    private final Map<String, Integer> reads = new HashMap<>();
    private final Map<String, String> kinds = new HashMap<>();

    /** @param proc usually /proc; its present processes are not counted */
    Starts(Path proc) {
        this.proc = proc;
        this.before = processes();
    }

    /** Reads /proc once; reads each new process a few times only. */
    synchronized void poll() {
        for (String process : processes()) {
            if (!before.contains(process) && reads.merge(process, 1, Integer::sum) <= READS) {
                kind(process).ifPresent(kind -> kinds.put(process, kind));
            }
        }
    }

    private Set<String> processes() {
        Set<String> found = new HashSet<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(proc, "[0-9]*")) {
            all.forEach(one -> found.add(String.valueOf(one.getFileName())));
        } catch (IOException unreadable) {
            return found;
        }
        return found;
    }

    private Optional<String> kind(String process) {
        try {
            Path folder = proc.resolve(process);
            String name = Files.readString(folder.resolve("comm")).strip();
            if (PROGRAMS.containsKey(name)) {
                // A program that starts another has a child of its own name for a moment.
                return name.equals(parentName(folder)) ? Optional.empty() : Optional.of(PROGRAMS.get(name));
            }
            String words = new String(Files.readAllBytes(folder.resolve("cmdline")), StandardCharsets.UTF_8);
            return kind(name, Arrays.asList(words.split("\0")));
        } catch (IOException ended) {
            return Optional.empty();
        }
    }

    /** The fourth column of `stat` is the parent; the second, in parentheses, may have spaces. */
    private String parentName(Path folder) throws IOException {
        String stat = Files.readString(folder.resolve("stat"));
        String parent = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ")[1];
        Path name = proc.resolve(parent).resolve("comm");
        return Files.exists(name) ? Files.readString(name).strip() : "";
    }

    /** Returns the kind of programs whose name alone does not distinguish them. */
    static Optional<String> kind(String name, List<String> words) {
        if (name.equals("chromium")) {
            boolean whole = words.stream().anyMatch(word -> word.startsWith("--user-data-dir"))
                    && words.stream().noneMatch(word -> word.startsWith("--type="));
            return whole ? Optional.of("browsers") : Optional.empty();
        }
        if (!name.equals("java")) {
            return Optional.empty();
        }
        int main = words.indexOf("dev.gpuwarden.cli.Main");
        if (main >= 0 && main + 1 < words.size() && words.get(main + 1).equals("daemon")) {
            return Optional.of("daemons");
        }
        return Optional.of("other JVMs");
    }

    /** Returns the counts, the largest first, for example `312 kubectl, 8 API servers`. */
    synchronized String text() {
        Map<String, Integer> counts = new TreeMap<>();
        kinds.values().forEach(kind -> counts.merge(kind, 1, Integer::sum));
        return counts.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .map(entry -> entry.getValue() + " " + entry.getKey())
                .collect(Collectors.joining(", "));
    }
}
