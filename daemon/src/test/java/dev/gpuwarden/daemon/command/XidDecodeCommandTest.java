package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.gpuwarden.daemon.Golden;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class XidDecodeCommandTest {

    private static final String FALLEN = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a, GPU has fallen off the bus.";
    private static final Path LOG =
            Path.of(System.getProperty("gpuwarden.repository"), "daemon/src/test/resources/golden/xid/node.log");

    @TempDir
    Path folder;

    private String file(byte[] content) throws IOException {
        return Files.write(folder.resolve("log"), content).toString();
    }

    private String file(String content) throws IOException {
        return file(content.getBytes(StandardCharsets.UTF_8));
    }

    private List<Map<String, String>> decode(String content, String... options) throws IOException {
        return decode(content.getBytes(StandardCharsets.UTF_8), options);
    }

    private List<Map<String, String>> decode(byte[] content, String... options) throws IOException {
        List<String> args = new ArrayList<>(List.of("xid", "decode", "-o", "json", file(content)));
        args.addAll(List.of(options));
        Program program = Program.run(args.toArray(String[]::new));
        assertThat(program.exitCode()).as(program.err()).isZero();
        return objects(program.out());
    }

    private static List<Map<String, String>> objects(String out) throws IOException {
        List<Map<String, String>> objects = new ArrayList<>();
        for (String line : out.lines().toList()) {
            objects.add(object(line));
        }
        return objects;
    }

    /** One object without arrays; nested fields are flattened to "details.link". */
    private static Map<String, String> object(String line) throws IOException {
        Map<String, String> fields = new LinkedHashMap<>();
        try (JsonParser json = new JsonFactory().createParser(line)) {
            assertThat(json.nextToken()).isEqualTo(JsonToken.START_OBJECT);
            String prefix = "";
            for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
                if (token == JsonToken.START_OBJECT) {
                    prefix = json.getParsingContext().getParent().getCurrentName() + ".";
                } else if (token == JsonToken.END_OBJECT) {
                    prefix = "";
                } else if (token != JsonToken.FIELD_NAME) {
                    fields.put(prefix + json.currentName(), json.getText());
                }
            }
        }
        return fields;
    }

    @ParameterizedTest
    @CsvSource({"node.txt,", "node-all.txt,--all", "node.jsonl,--output=json", "node.yaml,--output=yaml"})
    void explanationMatchesTheGoldenFile(String golden, String option) throws IOException {
        List<String> args = new ArrayList<>(List.of("xid", "decode", LOG.toString()));
        if (option != null) {
            args.add(option);
        }
        Program program = Program.run(args.toArray(String[]::new));
        assertThat(program.exitCode()).isZero();
        Golden.check("xid/" + golden, program.out());
    }

    @ParameterizedTest
    @CsvSource({"numbers.txt,", "numbers.jsonl,--output=json", "numbers.yaml,--output=yaml"})
    void numbersAreExplainedByTheCatalogues(String golden, String option) throws IOException {
        List<String> args = new ArrayList<>(List.of("xid", "decode", "79", "13", "74", "20034", "9999"));
        if (option != null) {
            args.add(option);
        }
        Program program = Program.run(args.toArray(String[]::new));
        assertThat(program.exitCode()).as(program.err()).isZero();
        assertThat(program.err()).isEmpty();
        Golden.check("xid/" + golden, program.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"79 seventy", "79 -", "log 79", "79 1234567890", "79 0x4f"})
    void textAmongNumbersIsAUsageErrorThatNamesIt(String words) {
        List<String> args = new ArrayList<>(List.of("xid", "decode"));
        args.addAll(List.of(words.split(" ")));
        Program program = Program.run(args.toArray(String[]::new));
        assertThat(program.exitCode()).isEqualTo(2);
        assertThat(program.out()).isEmpty();
        assertThat(program.err())
                .contains(words.replace("79", "").strip() + ": expected the number of an Xid", "such as 79");
    }

    @Test
    void oneWordThatIsNeitherNumberNorLogIsAUsageError() {
        Program program = Program.run("xid", "decode", "x79");
        assertThat(program.exitCode()).isEqualTo(2);
        assertThat(program.err()).contains("x79: no such file; expected a log, or numbers such as 79");
        assertThat(Program.run("xid", "decode", "79", "--all").exitCode()).isEqualTo(2);
    }

    @Test
    void hiddenMessagesAreCounted() {
        Program program = Program.run("xid", "decode", LOG.toString());
        String quoted = "gpuwarden: " + LOG
                + ": 1 line has 'NVRM: Xid' in the message of another program, the first in line 5\n";
        assertThat(program.err())
                .isEqualTo(
                        quoted + "gpuwarden: 2 other messages of driver and links are not shown; --all shows them\n");
        assertThat(Program.run("xid", "decode", "--all", LOG.toString()).err()).isEqualTo(quoted);
    }

    @Test
    void standardInputIsTheDefault() throws IOException {
        for (String[] args : new String[][] {{"-o", "json"}, {"-o", "json", "-"}}) {
            StringWriter out = new StringWriter();
            InputStream in = new ByteArrayInputStream(("x\n" + FALLEN).getBytes(StandardCharsets.UTF_8));
            CommandLine line = new CommandLine(new XidDecodeCommand(() -> in));
            line.setOut(new PrintWriter(out));
            assertThat(line.execute(args)).isZero();
            assertThat(objects(out.toString()))
                    .singleElement()
                    .satisfies(found -> assertThat(found)
                            .containsEntry("line", "2")
                            .containsEntry("signal", "xid")
                            .containsEntry("code", "79")
                            .containsEntry("pci", "0000:3b:00")
                            .containsEntry("pid", "1")
                            .containsEntry("process", "a")
                            .containsEntry("severity", "fatal")
                            .containsEntry("action", "restart-bm")
                            .doesNotContainKeys("gpu_uuid", "sub_code"));
        }
    }

    @Test
    void gpuHasItsUuidOnceTheLogHasIt() throws IOException {
        String named = "NVRM: GPU at PCI:0000:3b:00: GPU-455d8f70-2051-db6c-0430-ffc457bff834\n";
        List<Map<String, String>> found = decode(FALLEN + "\n" + named + FALLEN + "\n" + FALLEN.replace("3b", "3c"));
        assertThat(found)
                .extracting(object -> object.getOrDefault("gpu_uuid", "-"))
                .containsExactly("-", "GPU-455d8f70-2051-db6c-0430-ffc457bff834", "-");
    }

    /** A line of `journalctl -o json` | how many signals. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {"_TRANSPORT":"kernel","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"%s","PRIORITY":"4"} | 1
                    {"MESSAGE":"%s","_SOURCE_MONOTONIC_TIMESTAMP":"1","X":{"y":[1,{"z":2}]},"_TRANSPORT":"kernel"} | 1
                    {"MESSAGE":"%s","SYSLOG_IDENTIFIER":"kernel"} | 1
                    {"MESSAGE":[78,86,82,77,58,32,88,105,100,32,40,80,67,73,58,51,98,58,48,48,41,58,32,55,57,44,255],"_TRANSPORT":"kernel"} | 1
                    {"_TRANSPORT":"kernel","MESSAGE":"%s","CUT":"somewhe | 1
                    {"MESSAGE":["%s","x"],"_TRANSPORT":"kernel","SYSLOG_FACILITY":"0"} | 1
                    {"MESSAGE":"%s","_TRANSPORT":"kernel","SYSLOG_FACILITY":"1"} | 0
                    {"MESSAGE":[[[]],{},null,true,1.5],"_TRANSPORT":"kernel"} | 0
                    {"_TRANSPORT":"syslog","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"%s"} | 0
                    {"_TRANSPORT":"stdout","SYSLOG_IDENTIFIER":"python3","MESSAGE":"%s"} | 0
                    {"_TRANSPORT":"journal","MESSAGE":"%s"} | 0
                    {"SYSLOG_IDENTIFIER":"kubelet","MESSAGE":"%s"} | 0
                    {"log":"%s\\n","stream":"stdout"} | 1
                    {"text":"%s"} | 0
                    {"MESSAGE":null,"_TRANSPORT":"kernel"} | 0
                    {"MESSAGE" | 0
                    {} | 0
                    { | 0""")
    void journaldWriterIsUsed(String entry, int signals) throws IOException {
        Program program = Program.run("xid", "decode", "-o", "json", file(entry.replace("%s", FALLEN)));
        assertThat(objects(program.out())).filteredOn("signal", "xid").hasSize(signals);
        // A quotation that is all of the log is no log without errors.
        boolean hidden = signals == 0 && entry.contains("%s");
        assertThat(program.exitCode()).as(program.err()).isEqualTo(hidden ? 1 : 0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "%s\r\n",
                "\t%s",
                "\u001b[32m[  123.456789] \u001b[0m\u001b[33mNVRM: \u001b[0m%s",
                "4,1234,5678901,-;%s\n SUBSYSTEM=pci\n DEVICE=+pci:0000:3b:00.0\n",
                "\ufeff%s",
                "Nov 21 02:00:02 node-1 kernel: %s"
            })
    void escapesOfTerminalsAndEditorsAreIgnored(String form) throws IOException {
        String text = form.contains("NVRM") ? FALLEN.substring(6) : FALLEN;
        assertThat(decode(form.replace("%s", text))).hasSize(1);
    }

    @Test
    void longLinesAndBinaryBytesAreAccepted() throws IOException {
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        log.write((FALLEN + "x".repeat(1 << 20) + "\n").getBytes(StandardCharsets.UTF_8));
        log.write(("x".repeat(3 << 20) + FALLEN + "\n").getBytes(StandardCharsets.UTF_8));
        log.write(new byte[] {(byte) 0xff, (byte) 0xc3, 0, 0x1b, '\n'});
        log.write("NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=".getBytes(StandardCharsets.UTF_8));
        log.write(new byte[] {(byte) 0xff, (byte) 0xfe, 0x7f, 0x1b, ',', '\n'});
        log.write(("[\n\n" + FALLEN).getBytes(StandardCharsets.UTF_8));
        Program program = Program.run("xid", "decode", "-o", "json", file(log.toByteArray()));
        assertThat(program.exitCode()).isEqualTo(1);
        List<Map<String, String>> found = objects(program.out());
        assertThat(found).extracting(object -> object.get("line")).containsExactly("1", "4", "7", "2");
        assertThat(found.get(3)).containsEntry("signal", "unread").containsEntry("count", "1");
        assertThat(found.get(1)).containsEntry("process", "\ufffd\ufffd\u007f\u001b");
    }

    @Test
    void compressedLogsAreUnpacked() throws IOException {
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(log)) {
            gzip.write((FALLEN + "\n").getBytes(StandardCharsets.UTF_8));
        }
        assertThat(decode(log.toByteArray())).hasSize(1);
        Program cut = Program.run("xid", "decode", file(java.util.Arrays.copyOf(log.toByteArray(), log.size() - 9)));
        assertThat(cut.exitCode()).isEqualTo(1);
        assertThat(cut.err()).contains("log");
    }

    @Test
    void driverBranchSelectsTheNvlinkLayout() throws IOException {
        String line = "NVRM: Xid (PCI:0000:00:08.0): 145, RLW_REMAP Nonfatal XC1 i0 Link 10 (0x00000082 0x00000040)";
        assertThat(decode(line).get(0))
                .containsEntry("code", "145")
                .containsEntry("sub_code", "145.RLW_REMAP")
                .containsEntry("action", "component-reset")
                .containsEntry("details.link", "10")
                .containsEntry("details.rule_layout", "before R575");
        assertThat(decode(line, "--driver-branch=570").get(0)).containsEntry("sub_code", "145.RLW_REMAP");
        assertThat(decode(line, "--driver-branch=580").get(0))
                .containsEntry("code", "145")
                .containsEntry("action", "none")
                .doesNotContainKey("sub_code");
        Program wrong = Program.run("xid", "decode", "--driver-branch=0", LOG.toString());
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err()).contains("--driver-branch", "570", "0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "yaml", "table"})
    void logWithoutErrorsIsReportedAndSucceeds(String format) throws IOException {
        Program program = Program.run("xid", "decode", "-o", format, file("usb 1-1: new device\nx\n"));
        assertThat(program.exitCode()).isZero();
        assertThat(program.out()).isEmpty();
        assertThat(program.err()).contains("nothing recognised in 2 lines");
        assertThat(Program.run("xid", "decode", "-o", format, file("")).err())
                .contains("nothing recognised in 0 lines");
    }

    @Test
    void unreadableFileIsAUsageError() {
        Program missing = Program.run("xid", "decode", folder.resolve("none").toString());
        assertThat(missing.exitCode()).isEqualTo(2);
        assertThat(missing.err()).contains("none: no such file");
        Program directory = Program.run("xid", "decode", folder.toString());
        assertThat(directory.exitCode()).isEqualTo(2);
        assertThat(directory.err()).contains("directory");
        assertThat(Program.run("xid", "decode", "a\0b").exitCode()).isEqualTo(2);
        assertThat(Program.run("xid").exitCode()).isEqualTo(2);
    }

    /** Only the rows of a table stay in memory, and their number is bounded. */
    @Test
    void endlessLogIsReadUntilTheReaderIsGone() {
        InputStream endless = new InputStream() {
            private long lines;
            private byte[] line = {};
            private int at;

            @Override
            public int read() {
                if (at == line.length) {
                    line = String.format("NVRM: Xid (PCI:%04x:00:00): 31, pid=1, name=a\n", ++lines & 0xffff)
                            .getBytes(StandardCharsets.UTF_8);
                    at = 0;
                }
                return lines > 20_000 ? -1 : line[at++];
            }
        };
        CommandLine table = new CommandLine(new XidDecodeCommand(() -> endless));
        StringWriter out = new StringWriter();
        table.setOut(new PrintWriter(out));
        assertThat(table.execute()).isZero();
        assertThat(out.toString()).contains("more lines about other devices or codes");
        assertThat(out.toString().lines().count()).isLessThan(2100);

        int[] written = {0};
        CommandLine json = new CommandLine(new XidDecodeCommand(
                () -> new ByteArrayInputStream((FALLEN + "\n").repeat(100_000).getBytes(StandardCharsets.UTF_8))));
        json.setOut(new PrintWriter(new Writer() {
            @Override
            public void write(char[] text, int from, int length) throws IOException {
                if (++written[0] > 10) {
                    throw new IOException("nobody reads");
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        }));
        assertThat(json.execute("-o", "json")).isZero();
        assertThat(written[0]).isLessThan(20);
    }
}
