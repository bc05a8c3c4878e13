package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.YamlSection;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Resolution;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.Signal.Severity;
import dev.gpuwarden.daemon.kernlog.Occurrence.Checks;
import dev.gpuwarden.daemon.kernlog.Rules.CodeRule;
import dev.gpuwarden.daemon.kernlog.Rules.PatternRule;
import dev.gpuwarden.daemon.kernlog.Rules.Threshold;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** A reader of the user's rules. An error stops the start, because a rule that is missing without notice is worse. */
final class RuleFile {

    private static final int MOST_RULES = 1000;
    private static final int MOST_COUNT = 1000;

    /** The form of a check's name, which becomes the type of a Node condition. */
    private static final Pattern CHECK = Pattern.compile("[A-Za-z][A-Za-z0-9]{0,62}");

    private static final Pattern CODE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
    private static final Set<String> CLASSES = Set.of("GPU", "NIC", "NVSWITCH", "NODE");

    /** The actions that a line of a log can ask for. */
    private static final Set<RecommendedAction> ACTIONS = EnumSet.complementOf(
            EnumSet.of(RecommendedAction.CUSTOM, RecommendedAction.UNKNOWN, RecommendedAction.REMEDIATE));

    private RuleFile() {}

    static Rules read(Path file) {
        YamlSection root = YamlSection.read(file);
        root.allow("codes", "patterns");
        List<CodeRule> codes = new ArrayList<>();
        for (YamlSection rule : root.sections("codes")) {
            codes.add(code(rule));
        }
        List<PatternRule> patterns = new ArrayList<>();
        for (YamlSection rule : root.sections("patterns")) {
            patterns.add(pattern(rule));
        }
        if (codes.size() + patterns.size() > MOST_RULES) {
            throw new UserError(file + ": expected at most " + MOST_RULES + " rules, but there are "
                    + (codes.size() + patterns.size()));
        }
        return new Rules(List.copyOf(codes), List.copyOf(patterns));
    }

    private static CodeRule code(YamlSection rule) {
        rule.allow("xid", "sxid", "message", "fallen-off-bus", "ignore", "severity", "action", "count", "within");
        Signal.Kind kind;
        String code;
        List<String> named = List.of("xid", "sxid", "message", "fallen-off-bus").stream()
                .filter(rule::has)
                .toList();
        if (named.size() != 1) {
            throw rule.wrong("expected one of xid, sxid, message and fallen-off-bus, but found "
                    + (named.isEmpty() ? "none" : String.join(" and ", named)));
        }
        switch (named.get(0)) {
            case "xid" -> {
                kind = Signal.Kind.XID;
                code = number(rule, "xid");
            }
            case "sxid" -> {
                kind = Signal.Kind.SXID;
                code = number(rule, "sxid");
            }
            case "message" -> {
                kind = Signal.Kind.MESSAGE;
                code = matching(rule, "message", CODE, "a code such as nic-link-down");
            }
            default -> {
                kind = Signal.Kind.FALLEN_OFF_BUS;
                code = "";
                if (!flag(rule, "fallen-off-bus")) {
                    throw rule.wrong("fallen-off-bus", "expected true");
                }
            }
        }
        Optional<Severity> severity = severity(rule);
        Optional<RecommendedAction> action = action(rule);
        boolean ignore = rule.has("ignore") && flag(rule, "ignore");
        if (ignore == (severity.isPresent() || action.isPresent())) {
            throw rule.wrong("expected either ignore: true, or a severity or an action or both");
        }
        agree(rule, severity, action);
        return new CodeRule(kind, code, ignore, severity, action, threshold(rule), rule.origin());
    }

    private static PatternRule pattern(YamlSection rule) {
        rule.allow(
                "code",
                "contains",
                "pattern",
                "check",
                "component-class",
                "severity",
                "action",
                "message",
                "count",
                "within");
        String code = matching(rule, "code", CODE, "a name such as nvme-timeout");
        String contains = rule.text("contains");
        if (contains.length() < 3) {
            throw rule.wrong("contains", "expected at least 3 characters that every such record has");
        }
        String check = rule.has("check")
                ? matching(rule, "check", CHECK, "a name such as SysLogsDriverError, of at most 63 letters and digits")
                : Checks.DRIVER;
        String componentClass = rule.has("component-class") ? rule.text("component-class") : "NODE";
        if (!CLASSES.contains(componentClass)) {
            throw rule.wrong(
                    "component-class", "expected GPU, NIC, NVSWITCH or NODE, but was '" + componentClass + "'");
        }
        Optional<Severity> severity = severity(rule);
        Optional<RecommendedAction> action = action(rule);
        agree(rule, severity, action);
        Resolution resolution = Rules.of(severity, action, Severity.WARNING, RecommendedAction.NONE);
        return new PatternRule(
                code,
                new BoundedPattern(contains, expression(rule)),
                check,
                componentClass,
                rule.has("message") ? rule.text("message") : "",
                resolution,
                threshold(rule),
                rule.origin());
    }

    private static Pattern expression(YamlSection rule) {
        try {
            return Pattern.compile(rule.text("pattern"));
        } catch (PatternSyntaxException e) {
            throw rule.wrong("pattern", "not a regular expression: " + e.getDescription() + " at " + e.getIndex());
        }
    }

    private static Optional<Severity> severity(YamlSection rule) {
        if (!rule.has("severity")) {
            return Optional.empty();
        }
        for (Severity severity : Severity.values()) {
            if (severity.label().equals(rule.text("severity"))) {
                return Optional.of(severity);
            }
        }
        throw rule.wrong("severity", "expected info, warning or fatal, but was '" + rule.text("severity") + "'");
    }

    private static Optional<RecommendedAction> action(YamlSection rule) {
        if (!rule.has("action")) {
            return Optional.empty();
        }
        for (RecommendedAction action : ACTIONS) {
            if (action.label()
                    .equals(rule.text("action").toLowerCase(Locale.ROOT).replace('_', '-'))) {
                return Optional.of(action);
            }
        }
        throw rule.wrong(
                "action",
                "expected "
                        + String.join(
                                ", ",
                                ACTIONS.stream().map(RecommendedAction::label).toList()) + ", but was '"
                        + rule.text("action") + "'");
    }

    private static void agree(YamlSection rule, Optional<Severity> severity, Optional<RecommendedAction> action) {
        if (severity.isEmpty() || action.isEmpty()) {
            return;
        }
        boolean fatal = severity.get() == Severity.FATAL;
        if (fatal == (action.get() == RecommendedAction.NONE)) {
            throw rule.wrong(
                    "action",
                    fatal
                            ? "a fatal fault asks for an action, but it is none"
                            : "only a fatal fault asks for an action, but the severity is "
                                    + severity.get().label());
        }
    }

    private static Threshold threshold(YamlSection rule) {
        if (!rule.has("count") && !rule.has("within")) {
            return Threshold.FIRST;
        }
        if (!rule.has("count") || !rule.has("within")) {
            throw rule.wrong("count and within go together, but one is missing");
        }
        long count = rule.integer("count");
        if (count < 2 || count > MOST_COUNT) {
            throw rule.wrong("count", "expected 2 to " + MOST_COUNT + ", but was " + count);
        }
        Duration within;
        try {
            within = Durations.parse(rule.text("within"));
        } catch (picocli.CommandLine.TypeConversionException e) {
            throw rule.wrong("within", String.valueOf(e.getMessage()));
        }
        if (within.isZero() || within.compareTo(Duration.ofDays(365)) > 0) {
            throw rule.wrong("within", "expected more than 0 and at most 365d, but was " + rule.text("within"));
        }
        return new Threshold((int) count, within);
    }

    private static boolean flag(YamlSection rule, String key) {
        return switch (rule.text(key)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw rule.wrong(key, "expected true or false, but was '" + rule.text(key) + "'");
        };
    }

    private static String number(YamlSection rule, String key) {
        return matching(
                rule, key, Pattern.compile("\\d{1,5}(\\.[A-Za-z0-9_/]{1,40})?"), "a code such as 79 or 145.RLW_REMAP");
    }

    private static String matching(YamlSection rule, String key, Pattern form, String expected) {
        String text = rule.text(key);
        if (!form.matcher(text).matches()) {
            throw rule.wrong(key, "expected " + expected + ", but was '" + text + "'");
        }
        return text;
    }
}
