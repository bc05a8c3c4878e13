package dev.gpuwarden.nccl.group;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.nccl.group.Place.Meeting;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RendezvousTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    private final ExecutorService processes = Executors.newCachedThreadPool();
    private Meeting meeting = new Meeting("127.0.0.1", 1);

    @BeforeEach
    void freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            meeting = new Meeting("127.0.0.1", free.getLocalPort());
        }
    }

    @AfterEach
    void end() {
        processes.shutdownNow();
    }

    private Future<Exchange> join(int process, int count, Duration limit) {
        Place place = new Place(process, count, Optional.of(meeting));
        return processes.submit(() -> Rendezvous.join(place, limit));
    }

    private static List<String> texts(Future<List<byte[]>> gathered) throws Exception {
        return gathered.get(10, TimeUnit.SECONDS).stream()
                .map(bytes -> new String(bytes, UTF_8))
                .toList();
    }

    private Future<List<byte[]>> gather(Exchange exchange, String mine) {
        return processes.submit(() -> exchange.gather(mine.getBytes(UTF_8)));
    }

    /** Connects as soon as process 0 listens. */
    private Socket stranger() throws IOException {
        long end = System.nanoTime() + LONG.toNanos();
        while (true) {
            try {
                return new Socket(meeting.host(), meeting.port());
            } catch (ConnectException e) {
                assertThat(System.nanoTime()).isLessThan(end);
            }
        }
    }

    @Test
    void allProcessesReceiveTheContributionsOfOthers() throws Exception {
        List<Future<Exchange>> joining = new ArrayList<>();
        // The first one listens last.
        for (int process = 2; process >= 0; process--) {
            joining.add(0, join(process, 3, LONG));
        }
        List<Exchange> exchanges = new ArrayList<>();
        for (Future<Exchange> one : joining) {
            exchanges.add(one.get());
        }
        for (String round : List.of("a", "b")) {
            List<Future<List<byte[]>>> gathered = new ArrayList<>();
            for (int process = 0; process < 3; process++) {
                gathered.add(gather(exchanges.get(process), round + process));
            }
            for (Future<List<byte[]>> one : gathered) {
                assertThat(texts(one)).containsExactly(round + 0, round + 1, round + 2);
            }
        }
        exchanges.forEach(Exchange::close);
    }

    @Test
    void strangersDisturbNothing() throws Exception {
        Future<Exchange> hub = join(0, 2, LONG);
        try (Socket silent = stranger();
                Socket other = stranger();
                Socket wrongRank = stranger()) {
            other.getOutputStream().write("GET / HTTP/1.1\r\nHost: gpuwarden\r\n\r\n".getBytes(UTF_8));
            assertThat(other.getInputStream().read()).as("end of a stranger").isEqualTo(-1);
            Frames.writeHello(new DataOutputStream(wrongRank.getOutputStream()), new Frames.Hello(5, 2));
            assertThat(wrongRank.getInputStream().read()).isEqualTo(-1);
            try (Exchange second = join(1, 2, LONG).get();
                    Exchange first = hub.get()) {
                Future<List<byte[]>> gathered = gather(first, "x");
                assertThat(texts(gather(second, "y"))).containsExactly("x", "y");
                assertThat(texts(gathered)).containsExactly("x", "y");
                assertThat(silent.isConnected()).isTrue();
            }
        }
    }

    @Test
    void aProcessThatNeverComesIsNamed() {
        assertThatThrownBy(join(0, 3, Duration.ofMillis(200))::get)
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("only 1 of 3")
                .hasMessageContaining("rank 1, rank 2");
        assertThatThrownBy(join(1, 3, Duration.ofMillis(200))::get).hasMessageContaining("no answer of rank 0");
    }

    @Test
    void aProcessThatLeavesEndsTheExchange() throws Exception {
        Future<Exchange> hub = join(0, 2, LONG);
        join(1, 2, LONG).get().close();
        try (Exchange first = hub.get()) {
            assertThatThrownBy(() -> first.gather(new byte[0])).hasMessage("rank 1 has left");
        }
    }

    @Test
    void aTeamMeetsAndAFailureEndsIt() throws Exception {
        Team team = new Team(2, Exchange.alone());
        Future<double[]> one = processes.submit(() -> team.gather(1, 5));
        assertThat(team.gather(0, 4)).containsExactly(4, 5);
        assertThat(one.get()).containsExactly(4, 5);
        Future<double[]> waiting = processes.submit(() -> team.gather(1, 5));
        team.fail("it failed");
        assertThatThrownBy(waiting::get).hasMessageContaining("it failed");
        assertThatThrownBy(() -> team.meet(0)).isInstanceOf(Team.Left.class);
    }
}
