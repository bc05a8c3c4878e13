package dev.gpuwarden.daemon.grpc;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.Check;
import dev.gpuwarden.api.v1.CheckResult;
import dev.gpuwarden.api.v1.GetCheckRequest;
import dev.gpuwarden.api.v1.RunChecksRequest;
import io.grpc.Context;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Runs on demand over a real socket, with a check that waits for the test. */
class RunChecksTest extends NodeServiceFixture {

    private final CountDownLatch go = new CountDownLatch(1);

    @BeforeEach
    void slowPort() {
        node.duringPort.set(context -> {
            context.progress("lanes", 3, 8);
            try {
                assertThat(go.await(20, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    @AfterEach
    void end() {
        go.countDown();
    }

    private Check port() {
        return ask().getCheck(GetCheckRequest.newBuilder().setId("port").build());
    }

    @Test
    void eachResultComesWhenItsCheckHasEnded() {
        var stream = ask().runChecks(RunChecksRequest.getDefaultInstance());
        assertThat(stream.next().getCheckId()).isEqualTo("other");
        until(() -> port().hasRunning());
        assertThat(port().getRunning().getDoing()).isEqualTo("lanes");
        assertThat(port().getRunning().getSince().getSeconds()).isPositive();
        go.countDown();
        CheckResult last = stream.next();
        assertThat(last.getCheckId()).isEqualTo("port");
        assertThat(last.getFindingsCount()).isPositive();
        assertThat(stream.hasNext()).isFalse();
        assertThat(port().hasRunning()).isFalse();
    }

    @Test
    void progressComesOnRequestAlone() {
        var with =
                ask().runChecks(RunChecksRequest.newBuilder().setProgress(true).build());
        var without = ask().runChecks(RunChecksRequest.getDefaultInstance());
        assertThat(with.next().hasRunning()).isFalse();
        CheckResult message = with.next();
        assertThat(message.getCheckId()).isEqualTo("port");
        assertThat(message.getRunning().getDoneParts()).isEqualTo(3);
        assertThat(message.getRunning().getTotalParts()).isEqualTo(8);
        assertThat(message.toBuilder().clearCheckId().clearRunning().build())
                .isEqualTo(CheckResult.getDefaultInstance());
        assertThat(with.next().hasRunning()).isTrue();
        go.countDown();
        List<CheckResult> results = new ArrayList<>();
        without.forEachRemaining(results::add);
        assertThat(results).hasSize(2).noneMatch(CheckResult::hasRunning);
    }

    @Test
    void aDaemonThatStopsDoesNotPassOffSomeResultsAsAll() {
        var stream = ask().runChecks(RunChecksRequest.getDefaultInstance());
        assertThat(stream.next().getCheckId()).isEqualTo("other");
        node.checks.close();
        refused(Status.Code.UNAVAILABLE, "some checks have not ended", stream::hasNext);
    }

    @Test
    void clientsThatGoAwayKeepNoWorker() {
        // There are two workers.
        for (int i = 0; i < 2; i++) {
            try (Context.CancellableContext call = Context.current().withCancellation()) {
                call.run(() -> assertThat(ask().runChecks(RunChecksRequest.getDefaultInstance())
                                .next()
                                .getCheckId())
                        .isEqualTo("other"));
            }
        }
        assertThat(ask().runChecks(RunChecksRequest.newBuilder().addIds("other").build())
                        .next()
                        .getCheckId())
                .isEqualTo("other");
        assertThat(port().hasRunning()).isTrue();
    }
}
