package dev.gpuwarden.packaging.words;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The words of the repository. Each file may have the banned words that the baseline counts for it, and no more. */
class PlainEnglishTest {

    private static final Path REPOSITORY = Path.of(System.getProperty("gpuwarden.repository"));
    private static final Path LISTS = REPOSITORY.resolve("packaging/src/test/resources/words");
    private static final Set<String> BUILT = Set.of("target", ".git", ".idea", ".vscode", "node_modules");
    private static final int LARGEST_BYTES = 400_000;

    @Test
    void filesHaveNoMoreBannedWordsThanTheBaseline() throws IOException {
        Map<String, List<BannedWords.Finding>> findings = findings();
        Path file = LISTS.resolve("baseline.tsv");
        WordBaseline baseline = WordBaseline.read(file);
        if (Boolean.getBoolean("words.update")) {
            baseline.update(file, findings);
        } else {
            assertThat(String.join("\n", baseline.problems(findings))).isEmpty();
        }
    }

    private static Map<String, List<BannedWords.Finding>> findings() throws IOException {
        BannedWords words = BannedWords.read(LISTS.resolve("banned.tsv"));
        return files().parallelStream()
                .flatMap(file -> words.find(REPOSITORY.relativize(file).toString(), read(file)).stream())
                .collect(Collectors.groupingBy(BannedWords.Finding::path, TreeMap::new, Collectors.toList()));
    }

    /** Git need not be there: a source archive has the same words. */
    private static List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(REPOSITORY, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return BUILT.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile() && attributes.size() < LARGEST_BYTES) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
    }

    private static String read(Path file) {
        try {
            // Other bytes than UTF-8 are replaced: pictures have no prose.
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
