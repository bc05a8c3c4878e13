package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.kernel.ErrorNumber;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.Signal.Severity;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Explains a log while it reads it, however long it is. */
@Command(
        name = "decode",
        mixinStandardHelpOptions = true,
        description = {
            "Explain a log, or numbers of Xids and SXids.",
            "With numbers, prints what NVIDIA's catalogues have of each: name, meaning, severity, action, runbook. With a log,"
                    + " explains the Xids, the SXids and the GPUs that fell off the bus in it.",
            "Reads what dmesg, journalctl and /dev/kmsg write in any of their forms, syslog, logs of containers, of Talos"
                    + " and of ESXi, and what grep prints of these, compressed with gzip or not. Other lines that have"
                    + " 'NVRM: Xid' are counted, and the exit code is 1. With -o json, one object per line."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:not all of it could be read", "2:wrong usage, no such file, or not a number"})
final class XidDecodeCommand implements Callable<Integer> {

    private static final Set<Kind> ERRORS = EnumSet.of(Kind.XID, Kind.SXID, Kind.FALLEN_OFF_BUS, Kind.GUEST_XID);

    private static final String STANDARD_INPUT = "-";

    private final Supplier<InputStream> standardInput;

    @Mixin
    Output output = new Output();

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE|NUMBER",
            defaultValue = STANDARD_INPUT,
            description = "One log, - for standard input (default: ${DEFAULT-VALUE}), or numbers such as 79 145."
                    + " A log whose name is a number: ./79.")
    List<String> inputs = List.of(STANDARD_INPUT);

    @Option(
            names = "--driver-branch",
            paramLabel = "N",
            description = "Branch of the driver that wrote the log, such as 570: the layout of NVLink 5 errors changed"
                    + " with 575."
                    + " Default: the layout that fits.")
    Optional<Integer> driverBranch = Optional.empty();

    @Option(
            names = "--all",
            description = "Also show messages without a number: row remapping, failed starts of driver or GPU, links"
                    + " (NVLink, PCIe, network),"
                    + " resets, addresses of GPUs.")
    boolean all;

    @Spec
    CommandSpec spec = CommandSpec.create();

    XidDecodeCommand(Supplier<InputStream> standardInput) {
        this.standardInput = standardInput;
    }

    @Override
    public Integer call() {
        if (inputs.size() > 1 || ErrorNumber.parse(inputs.get(0)).isPresent()) {
            if (all || driverBranch.isPresent()) {
                throw new UserError("--all and --driver-branch are for logs; leave them out for numbers");
            }
            XidNumbers.of(inputs).write(output.format(), spec.commandLine().getOut());
            return ExitCode.OK;
        }
        Run run = new Run(spec.commandLine().getOut());
        try (InputStream in = open()) {
            run.cut(LogInput.read(in, inputs.get(0), run));
        } catch (IOException e) {
            if (run.begun()) {
                var unused = run.end(spec.commandLine().getErr());
            }
            throw new UncheckedIOException(shownName() + ": " + FileErrors.why(e), e);
        }
        return run.end(spec.commandLine().getErr()) ? ExitCode.OK : ExitCode.NOT_FIT;
    }

    private InputStream open() throws IOException {
        String file = inputs.get(0);
        if (file.equals(STANDARD_INPUT)) {
            return standardInput.get();
        }
        try {
            Path path = Path.of(file);
            if (Files.isDirectory(path)) {
                throw new UserError(shownName() + ": expected a file, but it is a directory");
            }
            return Files.newInputStream(path);
        } catch (NoSuchFileException | InvalidPathException e) {
            throw new UserError(shownName() + ": no such file; expected a log, or numbers such as 79");
        } catch (AccessDeniedException e) {
            throw new UserError(
                    shownName() + ": no permission to read it; on most nodes only root can read the kernel log");
        }
    }

    private String shownName() {
        String file = inputs.get(0);
        return file.equals(STANDARD_INPUT) ? "standard input" : Table.escape(file);
    }

    private KernelLogParser parser() {
        if (driverBranch.isEmpty()) {
            return KernelLogParser.standard();
        }
        int branch = driverBranch.get();
        if (branch < 1 || branch > 9999) {
            throw new UserError("--driver-branch: expected a major version such as 570, but it is " + branch);
        }
        return KernelLogParser.standard().withDriverBranch(branch);
    }

    /** One log from beginning to end. */
    private final class Run implements Predicate<String> {

        private final XidDecoder decoder = new XidDecoder(parser());
        private final XidTable table = new XidTable();
        private final PrintWriter out;
        private long shown;
        private long others;
        private boolean cut;

        Run(PrintWriter out) {
            this.out = out;
        }

        @Override
        public boolean test(String line) {
            return shown(decoder.decode(line));
        }

        boolean begun() {
            return decoder.lines() > 0;
        }

        void cut(boolean longer) {
            cut = longer;
        }

        private boolean shown(List<XidDecoder.Finding> findings) {
            boolean read = true;
            for (XidDecoder.Finding found : findings) {
                read &= shown(found);
            }
            return read;
        }

        private boolean shown(XidDecoder.Finding found) {
            Kind kind = found.signal().kind();
            if (!all && !ERRORS.contains(kind)) {
                others += kind == Kind.GPU_NAMED ? 0 : 1;
                return true;
            }
            shown++;
            if (output.format() == Output.Format.table) {
                table.add(found);
                return true;
            }
            return print(found.tree());
        }

        /** Flushes, so that a growing log is explained as it grows. The reader may have gone away, as head does. */
        private boolean print(Map<String, Object> tree) {
            if (output.format() == Output.Format.json) {
                out.println(Output.jsonLine(tree));
            } else if (output.format() == Output.Format.yaml) {
                out.print("---\n" + Output.yaml(tree));
            }
            return !out.checkError();
        }

        /** @return whether each line about an error was read; a quotation by another program is none, if it is not all that was found */
        boolean end(PrintWriter err) {
            shown(decoder.end());
            if (output.format() == Output.Format.table) {
                table.print(out);
            }
            decoder.unread().forEach(lines -> notRead("unread", lines, "in a form that is not read", true, err));
            boolean onlyQuoted = shown == 0 && !decoder.quoted().isEmpty();
            decoder.quoted()
                    .forEach(lines -> notRead("quoted", lines, "in the message of another program", onlyQuoted, err));
            out.flush();
            if (cut) {
                err.println("gpuwarden: " + shownName() + ": a line is longer than " + (LogInput.LONGEST_BYTES >> 20)
                        + " MiB, and its end was not read");
            }
            if (shown == 0) {
                err.println("gpuwarden: " + shownName() + ": nothing recognised in " + decoder.lines()
                        + (decoder.lines() == 1 ? " line" : " lines"));
            }
            if (others > 0 && (shown == 0 || output.format() == Output.Format.table)) {
                err.println(
                        "gpuwarden: " + others + " other messages of driver and links are not shown; --all shows them");
            }
            err.flush();
            return decoder.unread().isEmpty() && !onlyQuoted && !cut;
        }

        private void notRead(String signal, XidDecoder.Unread lines, String how, boolean fails, PrintWriter err) {
            boolean one = lines.count() == 1;
            String text = lines.count() + (one ? " line has '" : " lines have '")
                    + lines.mention().label() + "' " + how + ", the first in line " + lines.first();
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("line", lines.first());
            tree.put("signal", signal);
            tree.put("count", lines.count());
            tree.put("why", text);
            if (fails) {
                print(tree);
            }
            err.println("gpuwarden: " + shownName() + ": " + text);
        }
    }

    /** Numbers of XIDs and SXIDs as a user typed them, explained by the catalogues. */
    private record XidNumbers(List<ErrorNumber> errors) {

        /** @throws UserError naming the first text that is not a number */
        static XidNumbers of(List<String> texts) {
            return new XidNumbers(texts.stream().map(XidNumbers::number).toList());
        }

        private static ErrorNumber number(String text) {
            return ErrorNumber.of(ErrorNumber.parse(text)
                    .orElseThrow(() -> new UserError(Table.escape(text)
                            + ": expected the number of an Xid or SXid, such as 79; one log goes alone")));
        }

        /** Writes one object a line as JSON, one document each as YAML, or paragraphs. */
        void write(Output.Format format, PrintWriter out) {
            boolean first = true;
            for (ErrorNumber error : errors) {
                switch (format) {
                    case json -> out.println(Output.jsonLine(tree(error)));
                    case yaml -> out.print("---\n" + Output.yaml(tree(error)));
                    case table -> print(error, first, out);
                }
                first = false;
            }
            out.flush();
        }

        /** The keys of a decoded line, and more. Absent things are left out. */
        private static Map<String, Object> tree(ErrorNumber error) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("signal", error.kind().label());
            tree.put("code", Integer.toString(error.number()));
            tree.put("known", error.known());
            put(tree, "name", error.name());
            put(tree, "meaning", error.meaning());
            tree.put("severity", error.severity().label());
            tree.put("fatal", error.severity() == Severity.FATAL);
            tree.put("action", error.action().label());
            tree.put("advice", XidTable.advice(error.action(), error.severity()));
            tree.put("why", error.source());
            put(tree, "note", error.note());
            tree.put("runbook", error.runbook());
            return tree;
        }

        private static void put(Map<String, Object> tree, String key, String text) {
            if (!text.isEmpty()) {
                tree.put(key, text);
            }
        }

        private static void print(ErrorNumber error, boolean first, PrintWriter out) {
            String title = (error.kind() == Kind.XID ? "Xid " : "SXid ") + error.number();
            out.println(
                    (first ? "" : System.lineSeparator()) + title + "  " + (error.known() ? error.name() : "unknown"));
            line(out, "meaning", error.meaning());
            line(out, "severity", error.severity().label() + (error.known() ? "" : ", as for each unknown number"));
            line(out, "action", error.action().label() + ": " + XidTable.advice(error.action(), error.severity()));
            line(out, "note", error.note());
            line(out, "source", error.source());
            line(out, "runbook", error.runbook());
        }

        private static void line(PrintWriter out, String name, String text) {
            if (!text.isEmpty()) {
                out.println(String.format(Locale.ROOT, "  %-9s ", name) + text);
            }
        }
    }
}
