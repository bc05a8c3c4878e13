package dev.gpuwarden.nat.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * Compares a mirror in C with a header of NVIDIA's: each number, the size of each type, the place of each member, and the functions that
 * are called. Differences are in compute-differences.tsv with their reasons. A row without its difference fails too.
 */
public final class MirrorAudit {

    private static final Path NATIVE = Path.of(System.getProperty("gpuwarden.repository"), "native");
    private static final Pattern NUMBER =
            Pattern.compile("^#define (\\w+) (?=\\S)|^#.*|\\bR\\((\\w+), \\d+,|\\b(\\w+) = ", Pattern.MULTILINE);
    private static final Pattern TYPE =
            Pattern.compile("^(?:typedef [^;{]*?|(?:typedef .*)?\\} )(\\w+);$", Pattern.MULTILINE);
    private static final Pattern STRUCT =
            Pattern.compile("typedef struct \\{([^}]*)\\} (\\w+);", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern MEMBER = Pattern.compile("(\\w+)(?:\\[\\w+\\])?;");

    private final Path mirror;
    private final Path work;

    /** Names a mirror by its file in native/src/main/c. */
    public MirrorAudit(String mirror, Path work) {
        this.mirror = NATIVE.resolve("src/main/c").resolve(mirror);
        this.work = work;
    }

    /** Returns a file of the folder of tools; without it the test is skipped. */
    public static Path tool(String path) {
        Path file = Path.of(System.getProperty("gpuwarden.tools.dir", "")).resolve(path);
        Assumptions.assumeTrue(
                Files.exists(file),
                () -> "no " + file
                        + ": ./gpuwarden test gets it, and names the folder of tools in -Dgpuwarden.tools.dir");
        return file;
    }

    /** Returns the rows of a list of packages whose files are in the folder of tools: "nvidia-nccl-cu12/2.21.5". */
    public static List<String> packages(String list) throws IOException {
        return Files.readAllLines(NATIVE.resolve(list)).stream()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split(" ")[0].replace("==", "/"))
                .toList();
    }

    /**
     * Compares the mirror and the binding with a header.
     *
     * @param release its name in compute-differences.tsv
     * @param bound the functions that the binding calls, with their arguments and the bytes of their result: "pu:4"
     */
    public void compare(CompiledHeader header, String release, Map<String, String> bound)
            throws IOException, InterruptedException {
        List<String> subjects = subjects();
        Map<String, String> ours =
                new TreeMap<>(new CompiledHeader(mirror, List.of(mirror.getParent()), work).numbers(subjects));
        assertThat(ours.keySet()).as("what %s has itself", mirror).containsAll(subjects);
        ours.putAll(bound);
        Map<String, String> theirs = new TreeMap<>(header.numbers(subjects));
        theirs.putAll(header.functions(bound.keySet()));
        Set<String> seen = new TreeSet<>();
        ours.forEach((subject, value) -> {
            String other = theirs.getOrDefault(subject, "absent");
            if (!other.equals(value)) {
                seen.add(subject + "\t" + other);
            }
        });
        assertThat(seen)
                .as("differences of %s from %s, against those in compute-differences.tsv", release, mirror)
                .isEqualTo(listed(release));
    }

    /** Returns expressions with a whole number as their value: constants, sizes of types, offsets of members. */
    private List<String> subjects() throws IOException {
        String text = Files.readString(mirror);
        List<String> subjects = new ArrayList<>();
        NUMBER.matcher(text).results().flatMap(MirrorAudit::name).forEach(subjects::add);
        TYPE.matcher(text)
                .results()
                .map(type -> "sizeof(" + type.group(1) + ")")
                .forEach(subjects::add);
        STRUCT.matcher(text)
                .results()
                .forEach(struct -> MEMBER.matcher(struct.group(1))
                        .results()
                        .map(member -> "offsetof(" + struct.group(2) + ", " + member.group(1) + ")")
                        .forEach(subjects::add));
        return subjects;
    }

    private static Stream<String> name(MatchResult match) {
        return IntStream.rangeClosed(1, match.groupCount())
                .mapToObj(match::group)
                .filter(Objects::nonNull);
    }

    private static Set<String> listed(String release) throws IOException {
        return Files.readAllLines(NATIVE.resolve("src/audit/compute-differences.tsv")).stream()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split("\t"))
                .peek(c -> assertThat(c).as(String.join(" ", c)).hasSize(4).doesNotContain(""))
                .filter(c -> Arrays.asList(c[0].split(" ")).contains(release))
                .map(c -> c[1] + "\t" + c[2])
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
