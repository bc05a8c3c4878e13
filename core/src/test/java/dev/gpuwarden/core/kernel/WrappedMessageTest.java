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
            Optional<Signal> signal = KernelLogParser.standard().parse(wrapped.join(lines[i]));
            assertThat(signal.flatMap(Signal::pci)
                            .map(address -> Entity.pci(address).value()))
                    .isEqualTo(i == 3 ? Optional.of("0000:b3:00") : Optional.empty());
            assertThat(signal.isPresent()).isEqualTo(i >= 3);
            assertThat(wrapped.reachedBack()).isEqualTo(i == 3 ? 3 : 0);
        }
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
