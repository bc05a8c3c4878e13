package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class WrappedMessageTest {

    @Test
    void messagesOverSeveralRecordsAreJoined() {
        WrappedMessage wrapped = new WrappedMessage();
        String[] lines = {
            "[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0",
            "[ 1843.308146] usb 1-1: new device",
            "               NVRM: (PCI ID: 10de:26b5) installed in this system has",
            "               NVRM: fallen off the bus and is not responding to commands.",
            "               NVRM: fallen off the bus and is not responding to commands."
        };
        for (int i = 0; i < lines.length; i++) {
            Optional<Signal> signal = KernelLogParser.standard().parse(wrapped.join(lines[i], 10 * i));
            assertThat(signal.flatMap(Signal::pci)
                            .map(address -> Entity.pci(address).value()))
                    .isEqualTo(i == 3 ? Optional.of("0000:b3:00") : Optional.empty());
            assertThat(signal.isPresent()).isEqualTo(i >= 3);
            assertThat(wrapped.first()).isEqualTo(i == 3 ? 0 : 10 * i);
        }
    }

    @Test
    void lineBehindTheWordsNamesTheGpu() {
        String head = "[   12.000001] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:";
        String tail = "NVRM: BAR1 is 0M @ 0x0 (PCI:0000:14:00.0)";
        WrappedMessage wrapped = new WrappedMessage();
        String[] lines = {head, "usb 1-1: new device", "[   12.000001] " + tail, "[   12.000002] " + tail};
        for (int i = 0; i < lines.length; i++) {
            Optional<Signal> signal = KernelLogParser.standard().parse(wrapped.join(lines[i], 10 * i));
            assertThat(signal.map(Signal::code)).isEqualTo(i == 2 ? Optional.of("bar-invalid") : Optional.empty());
            assertThat(signal.flatMap(Signal::pci)
                            .map(address -> Entity.pci(address).value()))
                    .isEqualTo(i == 2 ? Optional.of("0000:14:00") : Optional.empty());
            assertThat(wrapped.first()).isEqualTo(i == 2 ? 0 : 10 * i);
        }
        assertThat(KernelLogParser.standard()
                        .parse(wrapped.join(head + " " + tail))
                        .flatMap(Signal::pci))
                .isPresent();
    }

    @Test
    void lineOfAnotherGpuIsNoPart() {
        WrappedMessage wrapped = new WrappedMessage();
        wrapped.join("NVRM: The NVIDIA GPU 0000:b3:00.0");
        String other = "NVRM: GPU 0000:b4:00.0: GPU has fallen off the bus.";
        assertThat(wrapped.join(other)).isEqualTo(other);
    }

    @Test
    void unfinishedMessageIsDropped() {
        WrappedMessage wrapped = new WrappedMessage();
        wrapped.join("NVRM: The NVIDIA GPU 0000:b3:00.0");
        for (int i = 0; i < 10; i++) {
            wrapped.join("usb 1-1: new device");
        }
        String late = "NVRM: fallen off the bus and is not responding to commands.";
        assertThat(wrapped.join(late)).isEqualTo(late);
    }
}
