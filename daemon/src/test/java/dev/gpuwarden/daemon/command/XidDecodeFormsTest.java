package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Each form of a log that a user names is read; a line about an XID in another form is counted and fails the command. */
class XidDecodeFormsTest {

    static final String XID = "NVRM: Xid (PCI:0000:3b:00): 48, pid=1, name=a, text";

    static Program decode(byte[] log, String... options) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new CommandLine(new XidDecodeCommand(() -> new ByteArrayInputStream(log)));
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        return new Program(line.execute(options), out.toString(), err.toString());
    }

    private static Program json(String log) {
        return decode(log.getBytes(StandardCharsets.UTF_8), "-o", "json");
    }

    /** Forms of one line, in which %s is the message. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "%s",
                "11월 16 09:20:39 n kernel: %s",
                " 6月 02 09:41:12 n kernel: %s",
                "Mon 2025-06-02 09:41:12.123456 +08 host kernel: %s",
                "Mon 2025-06-02 09:41:12 +0530 host kernel: %s",
                "Mon 2025-06-02 09:41:12 CEST host kernel: %s",
                "2025-06-02T09:41:12+0200 host kernel: %s",
                "Jun 02 09:41:12.123456 host kernel: %s",
                "[  123.456789] host kernel: %s",
                "[  123.456789 <    0.000001 >] host kernel: %s",
                "1748850072.123456 host kernel: %s",
                "[Mon Jun  2 09:41:12 2025] %s",
                "[Jun 2 09:41] %s",
                "[  +0.000012] %s",
                "kern  :err   : [Mon Jun  2 09:41:12 2025] %s",
                "<4>[  123.456789] %s",
                "kern.log:1234:Jun  2 09:41:12 n kernel: %s",
                "/var/log/kern.log:Jun  2 09:41:12 n kernel: [  123.456789] %s",
                "1234:Jun  2 09:41:12 n kernel: %s",
                "10.0.0.1: kern:     err: [2026-06-02T09:41:12.0Z]: %s",
                " kernel:%s",
                "\ufeff%s",
                "\r[  123.456789] %s",
                "\0\0\0Jun  2 09:41:12 n kernel: %s",
                "Jun  2 09:41:12 n kern.err kernel: %s",
                "<3>1 2026-11-28T21:18:15Z vm kernel - - [meta sequenceId=\"1\"] %s",
                "2025-06-02T09:41:12.123456789Z stdout F [  123.456789] %s",
                "kern.log:7:2025-06-02T09:41:12.123456789Z stderr F W0602 09:41:12.123456       1 kmsg.go:42] %s",
                "{\"log\":\"[  123.456789] %s\\n\",\"stream\":\"stdout\",\"time\":\"2025-06-02T09:41:12.123456789Z\"}",
                "2025-06-02T09:41:12.123456789Z stdout F {\"log\":\"%s\"}",
                "{\"dmesg\":[{\"pri\":6,\"time\":1.0,\"msg\":\"x\"},{\"pri\":3,\"time\":1.5,\"msg\":\"%s\"}]}",
                "{\"fac\":\"kern\",\"pri\":\"err\",\"time\":1.5,\"msg\":\"%s\"}",
                "W0602 09:41:12.123456       1 kmsg.go:42] %s",
                "06/02/2025 09:41:12 host kernel: %s",
                "2025/06/02 09:41:12 host kernel: %s",
                "6/2/2025, 9:41:12 AM host kernel: %s",
                "2019-03-07T10:42:18.332Z cpu41:2101342)%s",
                "2023-05-04T11:00:00.123Z In(182) vmkernel: cpu0:2097152)%s",
                "[pod/dmesg-x7k/dmesg] %s",
                "dmesg-1  | [  123.456789] %s",
                "MESSAGE=%s"
            })
    void everyFormOfALineIsRead(String form) {
        Program program = json("usb 1-1: new device\n" + form.replace("%s", XID) + "\n");
        assertThat(program.exitCode()).as(program.err()).isZero();
        assertThat(program.out()).contains("\"line\":2,\"signal\":\"xid\",\"code\":\"48\",\"pci\":\"0000:3b:00\"");
        assertThat(program.out().lines()).hasSize(1);
    }

    private static final String PRETTY = """
            {
            \t"_TRANSPORT" : "%1$s",
            \t"SYSLOG_IDENTIFIER" : "kernel",
            \t"MESSAGE" : "%2$s",
            \t"PRIORITY" : "3"
            }
            """;
    private static final String EXPORT = """
            __CURSOR=s=1;i=2
            __REALTIME_TIMESTAMP=1748850072123456
            SYSLOG_IDENTIFIER=kernel
            MESSAGE=%2$s
            _TRANSPORT=%1$s

            """;
    private static final String VERBOSE = """
            Mon 2025-06-02 09:41:12.123456 CEST [s=1;i=2;b=3;m=4;t=5;x=6]
                PRIORITY=3
                _TRANSPORT=%1$s
                MESSAGE=%2$s
                SYSLOG_IDENTIFIER=kernel
            """;
    private static final String DMESG = """
            {
               "dmesg": [
                  {
                     "fac": "%1$s",
                     "pri": "info",
                     "msg": "Linux version"
                  },{
                     "fac": "%1$s",
                     "pri": "err",
                     "time": 123.456789,
                     "msg": "%2$s"
                  }
               ]
            }
            """;

    @ParameterizedTest
    @CsvSource({"json-pretty, 4", "export, 4", "verbose, 4", "dmesg, 11"})
    void recordsOfSeveralLinesAreRead(String form, int line) {
        String text = switch (form) {
            case "json-pretty" -> PRETTY;
            case "export" -> EXPORT;
            case "verbose" -> VERBOSE;
            default -> DMESG;
        };
        String writer = form.equals("dmesg") ? "kern" : "kernel";
        String record = String.format(text, writer, XID);
        Program program = json(record + record + "Jun  2 09:41:12 n kernel: " + XID + "\n");
        assertThat(program.exitCode()).as(program.err()).isZero();
        assertThat(program.out().lines()).hasSize(3);
        assertThat(program.out()).startsWith("{\"line\":" + line + ",\"signal\":\"xid\",\"code\":\"48\"");
        Program cut = json(record.substring(0, record.indexOf("text") + 6));
        assertThat(cut.out()).as("the log ends in the record").contains("\"code\":\"48\"");
        Program other = json(String.format(text, form.equals("dmesg") ? "user" : "syslog", XID));
        assertThat(other.exitCode()).as("of another program").isEqualTo(1);
        assertThat(other.out()).contains("\"signal\":\"quoted\"").doesNotContain("\"signal\":\"xid\"");
    }

    /** A message of a GPU that fell off the bus, in two records, and one that belongs to neither. */
    @ParameterizedTest
    @CsvSource({"json-pretty, 6, 4", "export, 6, 4", "verbose, 5, 4"})
    void messageInTwoRecordsHasTheLineOfTheFirst(String form, int lines, int message) {
        String text = form.equals("json-pretty") ? PRETTY : form.equals("export") ? EXPORT : VERBOSE;
        String log = String.format(text, "kernel", "NVRM: The NVIDIA GPU 0000:b3:00.0")
                + String.format(text, "kernel", "NVRM: fallen off the bus and is not responding to commands.")
                + String.format(text, "syslog", "vmiop_log: (0x0): XID 43 detected on physical_chid:0x1c");
        Program program = json(log);
        assertThat(program.out().lines()).hasSize(2);
        assertThat(program.out())
                .startsWith("{\"line\":" + message + ",\"signal\":\"fallen_off_bus\",\"pci\":\"0000:b3:00\"")
                .contains("{\"line\":" + (2 * lines + message) + ",\"signal\":\"guest_xid\"");
    }

    @Test
    void binaryMessageOfTheExportFormatIsRead() {
        String record = "__CURSOR=s=1\n_TRANSPORT=kernel\nMESSAGE\n" + (char) 0x60 + "\0".repeat(7) + XID
                + "\nmore\n_UID=0\n\n";
        Program program = json(record);
        assertThat(program.exitCode()).as(program.err()).isZero();
        assertThat(program.out()).startsWith("{\"line\":4,\"signal\":\"xid\",\"code\":\"48\"");
    }

    /** A record in several lines, without an end. */
    @Test
    void messageBehindARecordWithoutEndIsRead() {
        String binary = "__CURSOR=1\nMESSAGE\n" + "y\n".repeat(700_000) + XID + "\n";
        assertThat(json(binary).out()).contains("{\"line\":700003,\"signal\":\"xid\"");
        String verbose =
                "Mon 2025-06-02 09:41:12 CEST [s=1;i=2]\n    MESSAGE=a\n" + "     b\n".repeat(700_000) + "     " + XID;
        assertThat(json(verbose).out()).contains("{\"line\":700003,\"signal\":\"xid\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "I saw %s",
                "\"%s\"",
                "2025-06-02 09:41:12,123 INFO root %s",
                "NVRM: Xid (PCI:0000:07:00",
                "NVRM: Xid",
                "nvrm: xid (pci:0000:3b:00): 48",
                "[  123.456789] NVRM: XID (PCI:0000:3b:00): 48, text",
                "{\"text\":\"%s\"}",
                "<3>1 2026-11-28T21:18:15Z vm kernel - - [meta %s",
                "x\0y%s"
            })
    void lineInAnotherFormIsCountedAndFails(String form) {
        String line = form.replace("%s", XID) + "\n";
        String log = "usb 1-1: new device\n" + line + line + XID + "\n";
        Program program = json(log);
        assertThat(program.exitCode()).isEqualTo(1);
        assertThat(program.out())
                .contains(
                        "{\"line\":2,\"signal\":\"unread\",\"count\":2,\"why\":\"2 lines have 'NVRM: Xid' in a form that"
                                + " is not read, the first in line 2\"}");
        Program table = decode(log.getBytes(StandardCharsets.UTF_8));
        assertThat(table.exitCode()).isEqualTo(1);
        assertThat(table.out()).contains("Xid 48");
        assertThat(table.err())
                .contains("standard input: 2 lines have 'NVRM: Xid' in a form that is not read, the first in line 2");
    }

    /** Each second message is in the text of the first, or beside it in one object within another log. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "%s\r%s",
                "Jun  2 09:41:12 n kernel: %s %s",
                "2025-06-02T09:41:12.123456789Z stdout F {\"a\":{\"msg\":\"%s\"},\"b\":{\"msg\":\"%s\"}}"
            })
    void secondMessageOfALineIsNotLost(String form) {
        Program program = json(form.replace("%s", XID) + "\n");
        assertThat(program.exitCode()).isEqualTo(1);
        assertThat(program.out()).contains("{\"line\":1,\"signal\":\"unread\",\"count\":1,");
    }

    @Test
    void guestsXidIsShownAndIsNoFaultOfTheHost() {
        Program program = json("Jun  2 09:41:12 h nvidia-vgpu-mgr[27029]: error: vmiop_log: (0x0): XID 43 detected on"
                + " physical_chid:0x1c, guest_chid:0x14\n");
        assertThat(program.exitCode()).isZero();
        assertThat(program.out())
                .contains("\"signal\":\"guest_xid\",\"code\":\"43\",\"pid\":\"27029\",\"process\":\"nvidia-vgpu-mgr\"")
                .contains("\"severity\":\"warning\",\"action\":\"none\"");
    }

    @Test
    void quotationFailsOnlyIfNothingElseWasFound() {
        String quoted = "Jun  2 09:41:12 n kubelet[1]: " + XID + "\n";
        Program alone = json(quoted);
        assertThat(alone.exitCode()).isEqualTo(1);
        assertThat(alone.err()).contains("1 line has 'NVRM: Xid' in the message of another program");
        Program beside = json(quoted + XID);
        assertThat(beside.exitCode()).isZero();
        assertThat(beside.out()).doesNotContain("quoted");
        assertThat(beside.err()).contains("1 line has 'NVRM: Xid' in the message of another program");
    }

    private static final String[] PARTS = {
        "Jun  2 09:41:12 ",
        "11월 16 09:20:39 ",
        "2025-06-02T09:41:12Z ",
        "n ",
        "kernel: ",
        "kubelet[12]: ",
        "[  12.345678] ",
        "<3>",
        "<13>1 ",
        "- ",
        "[a b=\"c\"] ",
        "kern.log:",
        "12:",
        "kern: err: [2026-06-02T09:41:12Z]: ",
        "stdout F ",
        "{\"log\":\"",
        "{\"MESSAGE\":\"",
        "\"",
        "}",
        "MESSAGE=",
        "cpu4:12)",
        "x",
        " ",
        "\ufeff",
        "\t",
        "(",
        "kern  :err   : ",
        "[pod/a/b] ",
        "a | ",
        "W0602 09:41:12.123456 1 a.go:4] ",
        "\u001b[32m",
        "__CURSOR=1\n",
        "{\n",
        "}\n",
        "MESSAGE\n",
        "\n",
        "..."
    };

    /** Any text around a true line: it is read, or the command fails. More lines: -Dgpuwarden.xid.forms=1000000. */
    @Test
    void noLineAboutAnXidIsLostInAnyText() {
        Random random = new Random(20261129);
        int read = 0;
        int rounds = Integer.getInteger("gpuwarden.xid.forms", 4000);
        for (int i = 0; i < rounds; i++) {
            StringBuilder log = new StringBuilder();
            for (int part = random.nextInt(5); part > 0; part--) {
                log.append(PARTS[random.nextInt(PARTS.length)]);
            }
            log.append(XID);
            for (int part = random.nextInt(3); part > 0; part--) {
                log.append(PARTS[random.nextInt(PARTS.length)]);
            }
            Program program = json(log.toString());
            boolean found = program.out().contains("\"signal\":\"xid\"");
            read += found ? 1 : 0;
            assertThat(found || program.exitCode() == 1).as(log.toString()).isTrue();
        }
        assertThat(read).isBetween(rounds / 20, rounds);
    }
}
