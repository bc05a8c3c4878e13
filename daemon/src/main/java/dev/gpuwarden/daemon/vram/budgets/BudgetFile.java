package dev.gpuwarden.daemon.vram.budgets;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.YamlSection;
import dev.gpuwarden.daemon.vram.budgets.BudgetEntry.Kind;
import dev.gpuwarden.watchdog.budget.Quantity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A reader of the file of budgets. */
final class BudgetFile {

    /** Far above the tenants of a node. */
    private static final int MOST_TENANTS = 512;

    private static final int LONGEST_NAME = 255;

    private BudgetFile() {}

    /** @throws UserError with file and line of the first error */
    static List<BudgetEntry> read(Path file) {
        YamlSection root = YamlSection.read(file);
        root.allow("tenants");
        List<YamlSection> sections = root.sections("tenants");
        if (sections.isEmpty() || sections.size() > MOST_TENANTS) {
            throw root.wrong("tenants: expected 1 to " + MOST_TENANTS + ", seen " + sections.size());
        }
        List<BudgetEntry> entries = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (YamlSection section : sections) {
            BudgetEntry entry = entry(section);
            if (!seen.add(
                    entry.kind() + ":" + entry.pattern() + "@" + entry.gpu().orElse(""))) {
                throw section.wrong(entry.kind().name(), "'" + entry.pattern() + "' is listed twice");
            }
            entries.add(entry);
        }
        return entries;
    }

    private static BudgetEntry entry(YamlSection section) {
        section.allow("unit", "container", "slurm", "process", "budget", "gpu", "priority", "exempt", "notify");
        List<Kind> kinds = Stream.of(Kind.values())
                .filter(kind -> section.has(kind.name()))
                .toList();
        if (kinds.size() != 1) {
            throw section.wrong("expected one of "
                    + Stream.of(Kind.values()).map(Kind::name).collect(Collectors.joining(", ")) + "; seen "
                    + kinds.size());
        }
        Kind kind = kinds.get(0);
        String pattern = section.text(kind.name());
        if (pattern.length() > LONGEST_NAME || pattern.chars().anyMatch(Character::isISOControl)) {
            throw section.wrong(kind.name(), "expected a name of at most " + LONGEST_NAME + " printable characters");
        }
        return new BudgetEntry(
                kind,
                pattern,
                budget(section),
                section.has("gpu") ? Optional.of(section.text("gpu")) : Optional.empty(),
                section.has("priority") ? (int) section.integer("priority") : 0,
                section.has("exempt") && exempt(section),
                section.has("notify") ? Optional.of(signal(section)) : Optional.empty());
    }

    private static long budget(YamlSection section) {
        try {
            return Quantity.parse(section.text("budget")).bytes();
        } catch (IllegalArgumentException e) {
            throw section.wrong("budget", String.valueOf(e.getMessage()));
        }
    }

    private static NotifySignal signal(YamlSection section) {
        String text = section.text("notify");
        return Stream.of(NotifySignal.values())
                .filter(signal -> signal.name().equals(text))
                .findFirst()
                .orElseThrow(() -> section.wrong(
                        "notify",
                        "expected one of "
                                + Stream.of(NotifySignal.values())
                                        .map(NotifySignal::name)
                                        .collect(Collectors.joining(", "))
                                + ", but was '" + text + "'"));
    }

    private static boolean exempt(YamlSection section) {
        String text = section.text("exempt");
        if (!text.equals("true") && !text.equals("false")) {
            throw section.wrong("exempt", "expected true or false, but was '" + text + "'");
        }
        return text.equals("true");
    }
}
