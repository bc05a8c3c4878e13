package dev.gpuwarden.checks.script;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.util.FieldReader;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A system log monitor file of node-problem-detector, matched with the kernel log. For a permanent problem,
 * node-problem-detector sets a condition; here it is a lasting fault of the check with the condition's name. A
 * temporary problem is a momentary fault of the check with the file's own name.
 */
final class NpdLogRules implements RecordRules {

    private static final int LINES = 10;
    private static final int MOST_LINES = 100;
    private static final int LONGEST_LINE = 1024;
    private static final int LONGEST_MESSAGE = 1000;

    private record Rule(LinePattern pattern, Optional<String> condition, String reason, String suffix) {}

    private final String file;
    private final String source;
    private final List<Rule> rules;
    private final List<String> skipped;
    private final int mostLines;
    private final Set<String> checks = new LinkedHashSet<>();
    private final Deque<String> lines = new ArrayDeque<>();
    private final boolean spans;

    private NpdLogRules(NpdConfig config) throws IOException {
        file = config.file().toString();
        source = config.source();
        skipped = config.json().textList("skipList");
        double asked = config.json().has("bufferSize") ? config.json().decimal("bufferSize") : 0;
        mostLines = asked < 1 ? LINES : (int) Math.min(asked, MOST_LINES);
        List<Rule> read = new ArrayList<>();
        for (var rule : config.json().objects("rules")) {
            Optional<String> condition = config.condition(rule);
            read.add(new Rule(
                    new LinePattern(
                            rule.optionalText("pattern").orElseThrow(() -> new IOException("a rule has no pattern"))),
                    condition,
                    NpdConfig.word(rule, "reason"),
                    CleanText.of(rule.textOrEmpty("patternGeneratedMessageSuffix"), LONGEST_MESSAGE)));
            checks.add(condition.orElse(source));
        }
        rules = List.copyOf(read);
        spans = rules.stream().anyMatch(rule -> rule.pattern().spans());
    }

    /** @throws dev.gpuwarden.cli.UserError if the file is invalid, or is for another log than the kernel's */
    static NpdLogRules read(Path path) {
        NpdConfig config = NpdConfig.read(path, List.of("kmsg", "journald", "filelog"));
        try {
            requireKernelLog(config.json());
            return new NpdLogRules(config);
        } catch (IOException e) {
            throw NpdConfig.wrong(path, e);
        }
    }

    private static void requireKernelLog(FieldReader json) throws IOException {
        FieldReader settings = json.objectOrEmpty("pluginConfig");
        String source = settings.optionalText("source").orElse("kernel");
        if (json.textOrEmpty("plugin").equals("journald") && !source.equals("kernel")) {
            throw new IOException("it is about the journal of " + CleanText.of(source, 60)
                    + ": only rules for the kernel's log are supported");
        }
        String path = json.textOrEmpty("logPath").toLowerCase(Locale.ROOT);
        boolean kernels = path.isEmpty() || path.matches(".*/(kern(el)?(\\.log)?|messages|syslog|dmesg|kmsg)");
        if (json.textOrEmpty("plugin").equals("filelog") && !kernels) {
            throw new IOException(
                    "it is about " + CleanText.of(path, 100) + ": only rules for the kernel's log are supported");
        }
    }

    @Override
    public Set<String> checks() {
        return Set.copyOf(checks);
    }

    /** Matches a record. Records from user space are ignored, because they can have any content. */
    @Override
    public List<Found> match(KernelRecord record) {
        if (record.writer() != Writer.KERNEL && record.writer() != Writer.UNTOLD
                || skipped.stream().anyMatch(record.text()::contains)) {
            return List.of();
        }
        String line = Text.head(record.text(), LONGEST_LINE);
        String all = spans ? buffered(line) : line;
        List<Found> found = new ArrayList<>(0);
        for (Rule rule : rules) {
            String text = rule.pattern().spans() ? all : line;
            int start = rule.pattern().find(text);
            if (start >= 0) {
                String matched = text.substring(text.lastIndexOf('\n', start) + 1);
                String message = CleanText.of(matched, LONGEST_MESSAGE);
                found.add(new Found(
                        rule.condition().orElse(source),
                        rule.reason(),
                        rule.suffix().isEmpty() ? message : message + "; " + rule.suffix(),
                        rule.condition().isPresent(),
                        file + ", " + rule.reason()));
            }
        }
        return found;
    }

    private String buffered(String line) {
        lines.addLast(line);
        if (lines.size() > mostLines) {
            lines.removeFirst();
        }
        return String.join("\n", lines);
    }

    /**
     * A pattern that must match up to the end of the newest line, as in node-problem-detector. A pattern that cannot match
     * a line's end is tried on that line alone, others on the last lines together.
     */
    static final class LinePattern {

        private static final int LONGEST = 4096;

        /** Expressions that may match a line's end, or make others do so. */
        private static final java.util.regex.Pattern MAY_SPAN =
                java.util.regex.Pattern.compile("\\\\[nNsSWDpPQx0-7CAaf]|\\[\\^|\\[\\[:|\\[[^\\]]*-|\\(\\?[a-zU]*s|\n");

        private static final String SPECIAL = "\\.+*?()[]{}|^$";

        private final Pattern pattern;
        private final String required;
        private final boolean spans;

        LinePattern(String expression) throws IOException {
            if (expression.length() > LONGEST) {
                throw new IOException("a pattern is longer than " + LONGEST + " characters");
            }
            try {
                pattern = Pattern.compile("(?:" + expression + ")\\z");
            } catch (PatternSyntaxException e) {
                throw new IOException("a pattern cannot be read: " + e.getMessage());
            }
            spans = MAY_SPAN.matcher(expression).find();
            required = prefix(expression);
        }

        /** Returns whether the pattern must be tried on more than the newest line. */
        boolean spans() {
            return spans;
        }

        /** Returns the start of the match; -1 if there is none. */
        int find(String text) {
            if (!text.contains(required)) {
                return -1;
            }
            Matcher matcher = pattern.matcher(text);
            return matcher.find() ? matcher.start() : -1;
        }

        /** Returns the literal start of every match. It rules out most lines, a hundred times faster than the expression. */
        static String prefix(String expression) {
            int end = 0;
            while (end < expression.length() && SPECIAL.indexOf(expression.charAt(end)) < 0) {
                end++;
            }
            if (hasBranches(expression)) {
                return "";
            }
            boolean lastMayBeMissing = end < expression.length() && "*?{".indexOf(expression.charAt(end)) >= 0;
            return expression.substring(0, lastMayBeMissing ? Math.max(0, end - 1) : end);
        }

        /** Returns whether the expression has a branch outside of all brackets, which begins with something else. */
        private static boolean hasBranches(String expression) {
            int depth = 0;
            for (int i = 0; i < expression.length(); i++) {
                char c = expression.charAt(i);
                if (c == '\\') {
                    i++;
                } else if (c == '(' || c == '[') {
                    depth++;
                } else if (c == ')' || c == ']') {
                    depth--;
                } else if (c == '|' && depth <= 0) {
                    return true;
                }
            }
            return false;
        }
    }
}
