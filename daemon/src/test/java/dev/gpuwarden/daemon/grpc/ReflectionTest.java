package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReflectionTest {

    @TempDir
    Path folder;

    @Test
    void aClientWithoutProtosLearnsThem() throws Exception {
        try (ServedNode node = ServedNode.start(folder)) {
            assertThat(ask(node, ServerReflectionRequest.newBuilder().setListServices("*"))
                            .getListServicesResponse()
                            .getServiceList())
                    .extracting(ServiceResponse::getName)
                    .containsExactlyInAnyOrder(
                            "datamodels.PlatformConnector",
                            "gpuwarden.v1.MaintenanceService",
                            "gpuwarden.v1.NodeService",
                            "gpuwarden.v1.VramService",
                            "grpc.health.v1.Health",
                            "grpc.reflection.v1.ServerReflection",
                            "grpc.reflection.v1alpha.ServerReflection");
            var files = ask(
                            node,
                            ServerReflectionRequest.newBuilder().setFileContainingSymbol("gpuwarden.v1.NodeService"))
                    .getFileDescriptorResponse()
                    .getFileDescriptorProtoList();
            assertThat(FileDescriptorProto.parseFrom(files.get(0)).getName()).isEqualTo("gpuwarden/v1/node.proto");
        }
    }

    @Test
    void clientsOfTheOldReflectionNameAreAnswered() throws Exception {
        try (ServedNode node = ServedNode.start(folder)) {
            CompletableFuture<String> answer = new CompletableFuture<>();
            var call = io.grpc.reflection.v1alpha.ServerReflectionGrpc.newStub(node.client.channel())
                    .serverReflectionInfo(new StreamObserver<>() {
                        @Override
                        public void onNext(io.grpc.reflection.v1alpha.ServerReflectionResponse response) {
                            answer.complete(response.getListServicesResponse().toString());
                        }

                        @Override
                        public void onError(Throwable error) {
                            answer.completeExceptionally(error);
                        }

                        @Override
                        public void onCompleted() {}
                    });
            call.onNext(io.grpc.reflection.v1alpha.ServerReflectionRequest.newBuilder()
                    .setListServices("*")
                    .build());
            assertThat(answer.get(20, TimeUnit.SECONDS)).contains("gpuwarden.v1.NodeService");
            call.onCompleted();
        }
    }

    private static ServerReflectionResponse ask(ServedNode node, ServerReflectionRequest.Builder request)
            throws Exception {
        CompletableFuture<ServerReflectionResponse> answer = new CompletableFuture<>();
        var call = ServerReflectionGrpc.newStub(node.client.channel()).serverReflectionInfo(new StreamObserver<>() {
            @Override
            public void onNext(ServerReflectionResponse response) {
                answer.complete(response);
            }

            @Override
            public void onError(Throwable error) {
                answer.completeExceptionally(error);
            }

            @Override
            public void onCompleted() {}
        });
        call.onNext(request.build());
        ServerReflectionResponse response = answer.get(20, TimeUnit.SECONDS);
        call.onCompleted();
        return response;
    }
}
