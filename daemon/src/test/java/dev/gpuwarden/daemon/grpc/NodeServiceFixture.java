package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.NodeServiceGrpc.NodeServiceBlockingStub;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A node that is served over a real socket, with a real store. */
abstract class NodeServiceFixture {

    @TempDir
    Path folder;

    ServedNode node;

    @BeforeEach
    void start() {
        node = ServedNode.start(folder);
    }

    @AfterEach
    void stop() {
        node.close();
    }

    NodeServiceBlockingStub ask() {
        return NodeServiceGrpc.newBlockingStub(node.client.channel()).withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    static void refused(Status.Code code, String description, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
            assertThat(e.getStatus().getCode())
                    .as(String.valueOf(e.getStatus()))
                    .isEqualTo(code);
            assertThat(e.getStatus().getDescription()).contains(description);
        });
    }
}
