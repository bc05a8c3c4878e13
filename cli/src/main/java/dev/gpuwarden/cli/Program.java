package dev.gpuwarden.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The whole command line: commands of all modules, settings, and the handling of errors. */
final class Program extends CommandLine {

    private final Commands commands;
    private final SettingSources sources;
    private final SettingDefaults defaults;
    private final CommandLine config;
    /** True after all commands were added. */
    private boolean complete;

    Program(Main main, Commands commands, SettingSources sources) {
        super(main);
        this.commands = commands;
        this.sources = sources;
        defaults = new SettingDefaults(
                () -> Settings.of(this),
                this::allSettings,
                sources,
                main::configFile,
                () -> !commands.failures().isEmpty());
        config = new CommandLine(new ConfigCommand(this::allSettings, defaults));
    }

    /**
     * Returns the settings of every command. A program with only one command makes a second program with all commands
     * for it.
     */
    private Settings allSettings() {
        Program whole = this;
        if (!complete) {
            whole = new Program(new Main(), commands, sources);
            whole.addAll();
        }
        return Settings.of(whole);
    }

    /** Adds the command that the command line begins with, or all commands where it begins with none. */
    private void addCommands(String... args) {
        String first = args.length == 0 ? "" : args[0];
        if (commands.has(first)) {
            commands.add(first, this);
        } else if (!List.of("--version", "-V").contains(first)) {
            addAll();
        }
        setDefaultValueProvider(defaults);
        configure(this);
        setParameterExceptionHandler(this::onUsageError);
        setExecutionExceptionHandler(this::onException);
        setExecutionStrategy(this::run);
        setOut(getOut());
        setErr(getErr());
    }

    private void addAll() {
        if (complete) {
            return;
        }
        complete = true;
        addSubcommand(new HelpCommand());
        commands.addAll(this);
        addSubcommand(config);
        addSubcommand(new CompletionCommand());
    }

    /** Returns a parser with the program's rules for a command that is not part of it. */
    static CommandLine parserOf(CommandSpec spec) {
        return configure(new CommandLine(spec));
    }

    private static CommandLine configure(CommandLine line) {
        // An argument may start with @: names of pods and paths do.
        line.setExpandAtFiles(false);
        line.registerConverter(Duration.class, Durations::parse);
        line.setHelpFactory(RangeHelp::new);
        return line;
    }

    @Override
    public ParseResult parseArgs(String... args) {
        defaults.reset();
        addCommands(args);
        if (List.of(args).contains("config") || List.of(args).contains("completion")) {
            List<String> words = List.of(args);
            boolean help = words.contains("--help") || words.contains("-h") || words.contains("help");
            ConfigCommand.addSettings(config.getCommandSpec(), allSettings(), help);
        }
        return super.parseArgs(args);
    }

    /** Runs the command and returns the exit code. No exception leaves this method, not even for a missing class. */
    @Override
    public int execute(String... args) {
        try {
            return super.execute(args);
        } catch (StackOverflowError | OutOfMemoryError | LinkageError e) {
            return onThrowable(e);
        }
    }

    private int run(ParseResult parsed) {
        abbreviateSynopses(this);
        Integer help = executeHelpRequest(parsed);
        if (help != null) {
            if (!parsed.hasSubcommand() || parsed.isUsageHelpRequested()) {
                reportMissing();
            }
            return help;
        }
        if (defaults.failure().isPresent()) {
            return complain(defaults.failure().get().getMessage());
        }
        if (explicitFile()) {
            try {
                defaults.configuration();
            } catch (UserError e) {
                return complain(e.getMessage());
            }
        }
        defaults.doubts().forEach(this::complain);
        Optional<String> outOfRange = outOfRange(parsed);
        if (outOfRange.isPresent()) {
            return complain(outOfRange.get());
        }
        return new RunLast().execute(parsed);
    }

    /** Flags alone: the values of files and of the environment were checked as they were read. */
    private static Optional<String> outOfRange(ParseResult parsed) {
        for (ParseResult each = parsed; each != null; each = each.subcommand()) {
            for (OptionSpec option : each.matchedOptions()) {
                Optional<String> problem = ValueRange.problem(option);
                if (problem.isPresent()) {
                    return Optional.of(option.longestName() + problem.get());
                }
            }
        }
        return Optional.empty();
    }

    /** Help with the ranges of options. */
    private static final class RangeHelp extends Help {

        RangeHelp(CommandSpec spec, ColorScheme colors) {
            super(spec, colors);
        }

        @Override
        public IOptionRenderer createDefaultOptionRenderer() {
            IOptionRenderer renderer = super.createDefaultOptionRenderer();
            return (option, labels, colors) -> renderer.render(ValueRange.described(option), labels, colors);
        }
    }

    /** Shortens synopses: with every setting as an option, the full synopsis would hide the purpose of a command. */
    private static void abbreviateSynopses(CommandLine line) {
        line.getCommandSpec().usageMessage().abbreviateSynopsis(true);
        line.getSubcommands().values().forEach(Program::abbreviateSynopses);
    }

    private boolean explicitFile() {
        Main main = (Main) getCommandSpec().userObject();
        return main.configFile().isPresent() || sources.environment().containsKey(SettingSources.FILE_VARIABLE);
    }

    /** Returns whether the line ends with a group, such as `gpuwarden vram`. Its usage lists the commands to choose from. */
    private static boolean namesNoCommand(ParameterException e, CommandLine line) {
        boolean missing = !(e instanceof UnmatchedArgumentException) && !(e instanceof MissingParameterException);
        return missing
                && !line.getSubcommands().isEmpty()
                && !(line.getCommandSpec().userObject() instanceof Callable<?>)
                && line.getParseResult() != null
                && !line.getParseResult().hasSubcommand();
    }

    private int onUsageError(ParameterException e, String[] args) {
        if (defaults.failure().isPresent()) {
            return complain(defaults.failure().get().getMessage());
        }
        CommandLine line = e.getCommandLine();
        complain(Table.escape(String.valueOf(e.getMessage())));
        PrintWriter err = getErr();
        int code = line.getCommandSpec().exitCodeOnInvalidInput();
        if (code != dev.gpuwarden.cli.ExitCode.USAGE) {
            // A command with the exit codes of another program; that one prints its usage too.
            line.usage(err);
        } else if (namesNoCommand(e, line)) {
            line.usage(err);
        } else if (!UnmatchedArgumentException.printSuggestions(e, err)) {
            err.println("Try '" + line.getCommandSpec().qualifiedName() + " --help'.");
        }
        if (e instanceof UnmatchedArgumentException) {
            reportMissing();
        }
        err.flush();
        return code;
    }

    private int onException(Exception e, CommandLine line, ParseResult parsed) {
        return e instanceof UserError ? complain(e.getMessage()) : onThrowable(e);
    }

    private int onThrowable(Throwable e) {
        String message = e.getMessage() == null ? e.getClass().getName() : e.getMessage();
        complain("failed: " + Table.escape(message) + (debug() ? "" : " (GPUWARDEN_DEBUG=1 shows the stack trace)"));
        if (debug()) {
            StringWriter stack = new StringWriter();
            e.printStackTrace(new PrintWriter(stack));
            stack.toString().lines().forEach(line -> getErr().println(Table.escape(line.replace("\t", "    "))));
            getErr().flush();
        }
        return dev.gpuwarden.cli.ExitCode.NOT_FIT;
    }

    private boolean debug() {
        return "1".equals(sources.environment().get("GPUWARDEN_DEBUG"));
    }

    private void reportMissing() {
        List<String> failures = commands.failures();
        failures.forEach(failure -> complain("some commands are missing: " + Table.escape(failure)));
    }

    private int complain(@org.jspecify.annotations.Nullable String message) {
        String prefix = JournalStream.isStandardError() ? JournalStream.ERROR_PREFIX : "";
        Optional.ofNullable(message)
                .orElse("unknown error")
                .lines()
                .forEach(line -> getErr().println(prefix + "gpuwarden: " + line));
        getErr().flush();
        return dev.gpuwarden.cli.ExitCode.USAGE;
    }
}
