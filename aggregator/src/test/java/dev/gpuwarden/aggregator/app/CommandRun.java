package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.SettingSources;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import picocli.CommandLine;

/** A run of a command in this process, to its end. */
record CommandRun(int code, String out, String err) {

    static CommandRun of(CommandGroup group, List<String> words) {
        CommandLine line =
                Main.commandLine(SettingSources.none(), List.of(group).iterator());
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        int code = line.execute(words.toArray(String[]::new));
        return new CommandRun(code, out.toString(), err.toString());
    }
}
