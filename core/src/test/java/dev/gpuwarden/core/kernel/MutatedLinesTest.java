package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With any text the parser neither fails nor stalls, and its signals are valid entities. */
class MutatedLinesTest {

    private static final String ALPHABET =
            "NVRM: Xid(PCI:0000:3b)\n\t\0,;[]<>'\"=.-_/{}\\%$\u00e9\ud83d\udc1f\udc00 GPU-0x";

    private final List<CorpusLine> corpus = CorpusLine.all();

    @ParameterizedTest
    @ValueSource(longs = {1, 20261121, -7})
    void mutatedLinesAreReadOrIgnored(long seed) {
        Random random = new Random(seed);
        WrappedMessage wrapped = new WrappedMessage();
        int read = 0;
        for (int i = 0; i < 60_000; i++) {
            String text = mutate(corpus.get(random.nextInt(corpus.size())).text(), random);
            Optional<Signal> signal = KernelLogParser.standard().parse(wrapped.join(text));
            if (signal.isPresent()) {
                read++;
                check(signal.get());
            }
        }
        // Most mutations are slight, so that what is behind the first test is reached as well.
        assertThat(read).isGreaterThan(10_000);
    }

    private static void check(Signal signal) {
        assertThat(signal.code()).matches("[A-Za-z0-9._-]{1,40}");
        assertThat(signal.pci().map(pci -> Entity.pci(pci).value()).orElse("0000:00:00"))
                .matches("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}");
        assertThat(signal.gpuUuid().orElse("GPU-0")).matches("GPU-[0-9a-fA-F-]{1,36}");
        assertThat(signal.pid().orElse("")).hasSizeLessThanOrEqualTo(64);
        assertThat(signal.process().orElse("")).hasSizeLessThanOrEqualTo(64);
        assertThat(signal.why()).hasSizeBetween(1, 2000);
        assertThat(signal.details().values()).allMatch(value -> value.length() <= 256);
    }

    private static String mutate(String line, Random random) {
        StringBuilder text = new StringBuilder(line);
        int changes = random.nextInt(4);
        for (int i = 0; i < changes; i++) {
            int at = random.nextInt(text.length() + 1);
            switch (random.nextInt(6)) {
                case 0 -> text.insert(at, ALPHABET.charAt(random.nextInt(ALPHABET.length())));
                case 1 -> text.delete(at, Math.min(text.length(), at + 1 + random.nextInt(4)));
                case 2 -> text.setLength(at);
                case 3 -> text.insert(at, text.substring(0, at));
                case 4 -> text.insert(at, (char) random.nextInt(0x10000));
                default -> text.insert(at, Long.toString(random.nextLong(), 2 + random.nextInt(35)));
            }
        }
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NVRM: ",
                "NVRM: Xid (",
                "NVRM: Xid (PCI:0000:3b:00): 145, A ",
                "NVRM: Xid (PCI:0000:3b:00): 145, A B C ",
                "NVRM: Xid (PCI:0000:3b:00): 74, link 1(0x0, ",
                "NVRM: Xid (PCI:0000:3b:00): 154, from 0 (a) to ",
                "NVRM: Xid (PCI:0000:3b:00): 79, pid=",
                "fallen off the bus 0000:00:",
                "mlx5_core ",
                "abc fed ",
                "abcdef0123",
                "libnccl.so ]: segfault at [",
                "[",
                "kernel: ",
                "0000:",
                "4,1,2,"
            })
    void longLinesAreReadInTime(String part) {
        for (String head : new String[] {
            "", "NVRM: ", "NVRM: Xid (PCI:0000:3b:00): 31, ", "mlx5_core Link down ", "pcieport Correct "
        }) {
            String line = head + part.repeat(1_000_000 / part.length());
            Assertions.assertTimeoutPreemptively(
                    Duration.ofSeconds(5), () -> KernelLogParser.standard().parse(line));
        }
    }

    @Test
    void lineWithoutMessageAllocatesNothing() {
        var threads = (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        String[] misses = {
            "Nov 21 02:00:02 node-1 systemd[1]: Started Session 42 of user root.",
            "[ 1843.308145] usb 1-1: new high-speed USB device number 2 using xhci_hcd",
            "2026-11-21T02:00:02.123456+00:00 node-1 containerd[99]: level=info msg=\"shim disconnected\" id=0a1b2c",
            "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready"
        };
        KernelLogParser parser = KernelLogParser.standard();
        for (int i = 0; i < 20_000; i++) {
            parser.parse(misses[i & 3]);
        }
        long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        for (int i = 0; i < 20_000; i++) {
            parser.parse(misses[i & 3]);
        }
        long bytes = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
        assertThat(bytes).isLessThan(20_000);
    }
}
