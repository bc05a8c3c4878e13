package dev.gpuwarden.daemon.uplink.request;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Signal;
import dev.gpuwarden.api.v1.Signalled;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.util.Wakeup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ResponderTest {

    private final Semaphore may = new Semaphore(0);
    private final Semaphore begun = new Semaphore(0);
    private final List<String> answers = new ArrayList<>();

    /** Returns a kind of request that is answered when the test permits it. */
    private RequestKind slow(int most) {
        return slow(most, Duration.ZERO);
    }

    private RequestKind slow(int most, Duration each) {
        return new Responder<>(
                "test-responder",
                most,
                each,
                hello -> {},
                message -> message.hasSignal() ? Optional.of(message.getSignal()) : Optional.<Signal>empty(),
                this::answer,
                ResponderTest::answer);
    }

    private NodeReport answer(Signal request) {
        begun.release();
        may.acquireUninterruptibly();
        if (request.getSignal().equals("bug")) {
            throw new IllegalStateException("a bug");
        }
        return answer(request, "");
    }

    private static NodeReport answer(Signal request, String error) {
        return NodeReport.newBuilder()
                .setSignalled(Signalled.newBuilder().setId(request.getId()).setError(error))
                .build();
    }

    private static boolean receive(RequestKind kind, String id, String signal) {
        return kind.received(Acknowledgement.newBuilder()
                .setSignal(Signal.newBuilder().setId(id).setSignal(signal))
                .build());
    }

    /** Takes answers until there are so many. */
    private List<String> answers(RequestKind kind, int expected) {
        until(() -> {
            kind.next()
                    .ifPresent(report -> answers.add((report.getSignalled().getId() + " "
                                    + report.getSignalled().getError())
                            .strip()));
            return answers.size() == expected;
        });
        return answers;
    }

    @Test
    void requestBeyondTheLimitIsRefusedAndAnExceptionIsAnAnswer() throws Exception {
        RequestKind kind = slow(2);
        kind.welcome(Welcome.getDefaultInstance(), new Wakeup());
        assertThat(receive(kind, "1", "bug")).isTrue();
        begun.acquire();
        for (String id : List.of("2", "3", "4")) {
            assertThat(receive(kind, id, "SIGUSR1")).isTrue();
        }
        assertThat(answers(kind, 1)).containsExactly("4 2 requests wait already");
        may.release(3);
        assertThat(answers(kind, 4))
                .containsExactly("4 2 requests wait already", "1 java.lang.IllegalStateException: a bug", "2", "3");
    }

    @Test
    void newerRequestReplacesTheOneThatWaits() throws Exception {
        RequestKind kind = slow(1);
        kind.welcome(Welcome.getDefaultInstance(), new Wakeup());
        receive(kind, "1", "SIGUSR1");
        begun.acquire();
        receive(kind, "2", "SIGUSR1");
        receive(kind, "3", "SIGUSR1");
        may.release();
        assertThat(answers(kind, 1)).containsExactly("1");
        may.release();
        assertThat(answers(kind, 2)).containsExactly("1", "3");
    }

    @Test
    void answerIsNotSentOverALaterConnection() throws Exception {
        RequestKind kind = slow(2);
        kind.welcome(Welcome.getDefaultInstance(), new Wakeup());
        receive(kind, "1", "SIGUSR1");
        begun.acquire();
        receive(kind, "2", "SIGUSR1");
        kind.end();
        kind.welcome(Welcome.getDefaultInstance(), new Wakeup());
        receive(kind, "3", "SIGUSR1");
        may.release(3);
        assertThat(answers(kind, 1)).containsExactly("3");
    }

    @Test
    void answersThatNoneTakesAreBounded() throws Exception {
        RequestKind many = slow(2);
        many.welcome(Welcome.getDefaultInstance(), new Wakeup());
        receive(many, "1", "SIGUSR1");
        begun.acquire();
        for (int id = 2; id < 100; id++) {
            receive(many, String.valueOf(id), "SIGUSR1");
        }
        may.release(1000);
        assertThat(answers(many, 5)).contains("1", "2", "3");
        assertThat(many.next()).isEmpty();
    }

    @Test
    void newerAnswerReplacesOneThatNoneTook() throws Exception {
        RequestKind kind = slow(1);
        kind.welcome(Welcome.getDefaultInstance(), new Wakeup());
        may.release();
        receive(kind, "1", "SIGUSR1");
        begun.acquire();
        receive(kind, "2", "SIGUSR1");
        begun.acquire();
        may.release();
        receive(kind, "3", "SIGUSR1");
        // The answer to the second is there.
        begun.acquire();
        assertThat(answers(kind, 1)).containsExactly("2");
        assertThat(kind.next()).isEmpty();
        may.release();
    }

    @Test
    void nextRequestWaitsForThePace() throws Exception {
        RequestKind kind = slow(2, Duration.ofDays(1));
        kind.welcome(Welcome.getDefaultInstance(), new Wakeup());
        may.release(2);
        receive(kind, "1", "SIGUSR1");
        receive(kind, "2", "SIGUSR1");
        assertThat(answers(kind, 1)).containsExactly("1");
        begun.acquire();
        assertThat(begun.tryAcquire(100, TimeUnit.MILLISECONDS)).isFalse();
    }

    @Test
    void messageOfAnotherKindIsLeft() {
        assertThat(slow(1).received(Acknowledgement.getDefaultInstance())).isFalse();
    }
}
