package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.v1.ListChecksRequest;
import dev.gpuwarden.api.v1.ListChecksResponse;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.api.v1.ListFaultsResponse;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.RunChecksRequest;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.MeasuredGpus;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.daemon.grpc.EventLoop;
import dev.gpuwarden.daemon.view.CheckSummary;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon that runs its checks, and fails before it has reported its faults. */
class DaemonChecksTest {

    private static final CheckInfo PORT = CheckInfo.of("port", "NIC", "The port is up.");

    @TempDir
    Path folder;

    private final EventLoop loop = new EventLoop();
    private final List<String> notes = new ArrayList<>();
    private Server server;
    private Finding found = Finding.pass("port-up", Subject.NODE, "up");

    private final class Daemon extends NodeServiceGrpc.NodeServiceImplBase {
        @Override
        public void listChecks(ListChecksRequest request, StreamObserver<ListChecksResponse> answer) {
            answer.onNext(ListChecksResponse.newBuilder()
                    .addChecks(CheckCodec.toWire(PORT))
                    .build());
            answer.onCompleted();
        }

        @Override
        public void runChecks(RunChecksRequest request, StreamObserver<dev.gpuwarden.api.v1.CheckResult> answer) {
            answer.onNext(CheckCodec.toWire(CheckResult.of(PORT, Instant.EPOCH, Duration.ZERO, List.of(found))));
            answer.onCompleted();
        }

        @Override
        public void listFaults(ListFaultsRequest request, StreamObserver<ListFaultsResponse> answer) {
            answer.onError(Status.DEADLINE_EXCEEDED.asRuntimeException());
        }
    }

    private Path socket() {
        return folder.resolve("gpuwarden.sock");
    }

    @BeforeEach
    void begin() throws IOException {
        server = NettyServerBuilder.forAddress(new DomainSocketAddress(socket().toFile()))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(loop.group())
                .workerEventLoopGroup(loop.group())
                .directExecutor()
                .addService(new Daemon())
                .build()
                .start();
    }

    @AfterEach
    void end() {
        server.shutdownNow();
        loop.close();
    }

    private CheckSummary run(String... names) {
        Optional<DaemonChecks.Ran> ran =
                DaemonChecks.run(socket(), List.of(names), count -> RunListener.NONE, notes::add);
        List<CheckResult> results = ran.orElseThrow().results();
        return new CheckSummary(
                results, names.length == 0, true, ran.get().faults(), MeasuredGpus.of(results, Set.of()), false);
    }

    @Test
    void allChecksWithoutTheFaultsAreNeverFit() {
        CheckSummary passed = run();
        assertThat(passed.results()).extracting(each -> each.check().id()).containsExactly("daemon-faults", "port");
        assertThat(passed.verdict()).isEqualTo(Verdict.UNDECIDED);
        assertThat(passed.conclusion()).isEqualTo("could not decide (faults-unknown)");
        assertThat(passed.results().get(0).findings().get(0).message())
                .startsWith("the checks ran, and the faults of the daemon are not known: the daemon on ");
        found = Finding.fail(
                "port-down", Subject.NODE, "down", "", dev.gpuwarden.core.event.RecommendedAction.CONTACT_SUPPORT);
        assertThat(run().verdict()).isEqualTo(Verdict.NOT_FIT);
        assertThat(notes).isEmpty();
    }

    @Test
    void aNamedCheckHasItsResultAndANote() {
        CheckSummary passed = run("port");
        assertThat(passed.verdict()).isEqualTo(Verdict.FIT);
        assertThat(passed.lines().get(passed.lines().size() - 1)).contains("this is not the verdict of the node");
        assertThat(notes)
                .singleElement()
                .asString()
                .startsWith("the checks ran, and the faults of the daemon are not known: ");
    }
}
