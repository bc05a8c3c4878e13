package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.daemon.vram.rules.Rule;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Lists the rules of the watchdog. */
@Command(
        name = "rules",
        description = "List the rules of the watchdog with their defaults.",
        exitCodeList = {"0:done", "2:wrong usage"})
final class VramRulesCommand extends FileCommand {

    static final String SCHEMA = "gpuwarden.vram-rules/v1";

    @Override
    public Integer call() {
        List<Object> rules = new ArrayList<>();
        Table table = new Table("RULE", "DEFAULT", "MEANING");
        for (Rule rule : Rule.values()) {
            String value = rule.text(WatchdogRules.DEFAULT);
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("rule", rule.key());
            row.put("default", value);
            row.put("meaning", rule.meaning());
            rules.add(row);
            table.row(rule.key(), value, rule.meaning());
        }
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("rules", rules);
        show(tree, table::print);
        return ExitCode.OK;
    }
}
