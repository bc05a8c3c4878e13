package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Links of the documents, and their index. The script `documents` runs their commands. */
class DocumentsTest {

    private static final Path REPOSITORY = Path.of(System.getProperty("gpuwarden.repository"));
    private static final Path DOCS = REPOSITORY.resolve("docs");
    private static final Set<String> OTHER_FOLDERS = Set.of("target", ".git", "node_modules", "tools", "shared");

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#{1,6} +(.+?) *$");
    private static final Pattern PATH = Pattern.compile(
            "\\bdocs/(?:start|operating|reference|runbooks|migration|images)/[\\w/.-]+\\.(?:md|png)\\b");
    private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");

    @Test
    void eachLinkLeadsToAFileAndAHeading() throws IOException {
        List<String> broken = new ArrayList<>();
        Map<Path, Set<String>> anchors = new HashMap<>();
        for (Path document : files(".md")) {
            for (String line : prose(document)) {
                Matcher link = LINK.matcher(line);
                while (link.find()) {
                    String target = link.group(1);
                    if (!target.contains("://") && !isThere(document, target, anchors)) {
                        broken.add(REPOSITORY.relativize(document) + ": " + target);
                    }
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    private static boolean isThere(Path document, String target, Map<Path, Set<String>> anchors) throws IOException {
        int hash = target.indexOf('#');
        String name = hash < 0 ? target : target.substring(0, hash);
        Path file = name.isEmpty() ? document : document.resolveSibling(name).normalize();
        if (!Files.exists(file)) {
            return false;
        }
        if (hash < 0 || !file.toString().endsWith(".md")) {
            return true;
        }
        if (!anchors.containsKey(file)) {
            anchors.put(file, anchors(file));
        }
        return anchors.get(file).contains(target.substring(hash + 1));
    }

    /** Returns the anchors that GitHub makes of the headings. */
    private static Set<String> anchors(Path document) throws IOException {
        Set<String> anchors = new TreeSet<>();
        for (String line : prose(document)) {
            Matcher heading = HEADING.matcher(line);
            if (heading.find()) {
                String text = heading.group(1).replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1");
                anchors.add(text.toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'));
            }
        }
        return anchors;
    }

    /** Lines outside of fences. */
    private static List<String> prose(Path document) throws IOException {
        List<String> prose = new ArrayList<>();
        boolean fence = false;
        for (String line : Files.readAllLines(document)) {
            boolean mark = line.stripLeading().startsWith("```");
            fence ^= mark;
            if (!fence && !mark) {
                prose.add(line);
            }
        }
        return prose;
    }

    @Test
    void theIndexLinksEachDocument() throws IOException {
        String index = Files.readString(DOCS.resolve("README.md"));
        String runbooks = Files.readString(DOCS.resolve("runbooks/README.md"));
        for (Path document : files(".md")) {
            if (!document.startsWith(DOCS) || document.equals(DOCS.resolve("README.md"))) {
                continue;
            }
            Path path = DOCS.relativize(document);
            boolean runbook = path.startsWith("runbooks") && path.getNameCount() == 2;
            assertThat(runbook && !path.endsWith("README.md") ? runbooks : index)
                    .as(path.toString())
                    .contains("](" + (runbook && !path.endsWith("README.md") ? path.getFileName() : path));
        }
    }

    /** Messages, comments and manifests name documents too, and nothing else notices when one of these moves. */
    @Test
    void eachDocumentThatCodeNamesExists() throws IOException {
        List<String> broken = new ArrayList<>();
        for (String suffix : List.of(".java", ".yaml", ".proto", ".tsv", ".conf")) {
            for (Path file : files(suffix)) {
                Matcher path = PATH.matcher(Files.readString(file));
                while (path.find()) {
                    if (!Files.exists(REPOSITORY.resolve(path.group()))) {
                        broken.add(REPOSITORY.relativize(file) + ": " + path.group());
                    }
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    @Test
    void eachAlertHasASectionInTheRunbooks() throws IOException {
        Map<String, String> runbooks =
                Map.of("gpuwarden", "alerts-node.md", "gpuwarden-aggregator", "alerts-aggregator.md");
        for (Map.Entry<String, String> runbook : runbooks.entrySet()) {
            Path rules = REPOSITORY.resolve("packaging/src/main/prometheus/" + runbook.getKey() + ".rules.yaml");
            Set<String> alerts = new TreeSet<>();
            Matcher alert = ALERT.matcher(Files.readString(rules));
            while (alert.find()) {
                alerts.add(alert.group(1));
            }
            Set<String> sections = new TreeSet<>();
            for (String line : Files.readAllLines(DOCS.resolve("runbooks").resolve(runbook.getValue()))) {
                if (line.startsWith("### Gpuwarden") || line.startsWith("### GPUVRAM")) {
                    sections.add(line.substring(4));
                }
            }
            assertThat(alerts).isNotEmpty();
            assertThat(sections).isEqualTo(alerts);
        }
    }

    private static List<Path> files(String suffix) {
        return Tree.ALL.stream()
                .filter(file -> file.toString().endsWith(suffix))
                .toList();
    }

    /** One walk for all tests. */
    private static final class Tree {
        static final List<Path> ALL = all();

        private static List<Path> all() {
            List<Path> files = new ArrayList<>();
            try {
                Files.walkFileTree(REPOSITORY, new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                        return !folder.equals(REPOSITORY)
                                        && OTHER_FOLDERS.contains(
                                                folder.getFileName().toString())
                                ? FileVisitResult.SKIP_SUBTREE
                                : FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        if (attributes.isRegularFile()) {
                            files.add(file);
                        }
                        return FileVisitResult.CONTINUE;
                    }
                });
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return files;
        }
    }
}
