package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PortsTest {

    @Test
    void processesGetDifferentRanges() throws IOException {
        Ports one = new Ports();
        Ports other = new Ports();
        try {
            Set<Integer> ports = new TreeSet<>(ports(one, 150));
            assertThat(ports).hasSize(99).doesNotContainAnyElementsOf(ports(other, 150));
        } finally {
            one.close();
            other.close();
        }
    }

    private static List<Integer> ports(Ports of, int count) {
        return IntStream.range(0, count).mapToObj(i -> of.next()).toList();
    }

    @Test
    void portInUseIsSkipped() throws IOException {
        Ports ports = new Ports();
        int next = ports.next() + 1;
        try (ServerSocket taken = new ServerSocket(next, 1, InetAddress.getLoopbackAddress())) {
            assertThat(taken.isBound()).isTrue();
            assertThat(ports.next()).isEqualTo(next + 1);
        } finally {
            ports.close();
        }
    }
}
