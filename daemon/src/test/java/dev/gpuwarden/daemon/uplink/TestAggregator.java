package dev.gpuwarden.daemon.uplink;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import dev.gpuwarden.api.v1.AccessOutcome;
import dev.gpuwarden.api.v1.AccessReview;
import dev.gpuwarden.api.v1.AccessVerdict;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Fault;
import dev.gpuwarden.api.v1.FaultPage;
import dev.gpuwarden.api.v1.FlowLimits;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.api.v1.Lookup;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Refusal;
import dev.gpuwarden.api.v1.Signal;
import dev.gpuwarden.api.v1.Signalled;
import dev.gpuwarden.api.v1.StoredEvent;
import dev.gpuwarden.api.v1.TellAgain;
import dev.gpuwarden.api.v1.UplinkGrpc;
import dev.gpuwarden.api.v1.Welcome;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** The other side of uplink.proto, over a real socket, which also watches that the node keeps the order. */
final class TestAggregator implements AutoCloseable {

    private static final Context.Key<String> TOKEN = Context.key("token");
    private static final Context.Key<String> SUBJECT = Context.key("subject");

    /** The state that survives a restart of the aggregator. */
    static final class Kept {
        final List<String> ids = new CopyOnWriteArrayList<>();
        final List<Connection> connections = new CopyOnWriteArrayList<>();
        final List<String> violations = new CopyOnWriteArrayList<>();
        volatile long acknowledged;
        volatile boolean acknowledges = true;
        volatile boolean answers = true;
        volatile int window;
        volatile String refusedId = "";
        volatile String token = "";
        volatile boolean answersAccessReviews = true;
        /** Unspecified: it does not answer. */
        volatile AccessOutcome access = AccessOutcome.ACCESS_OUTCOME_ALLOWED;
    }

    private final Kept kept;
    private final Server server;
    private final int port;

    TestAggregator(Kept kept, int port, @Nullable SslContext tls) throws IOException {
        this.kept = kept;
        NettyServerBuilder builder = NettyServerBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .permitKeepAliveTime(20, TimeUnit.SECONDS)
                .intercept(new Who())
                .addService(new Service());
        if (tls != null) {
            builder.sslContext(tls);
        }
        this.server = builder.build().start();
        this.port = server.getPort();
    }

    int port() {
        return port;
    }

    /** Stops gracefully: no new streams; open ones may end by themselves. */
    boolean drain() throws InterruptedException {
        return server.shutdown().awaitTermination(20, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        server.shutdownNow();
        try {
            server.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Who implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            String token = headers.get(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER));
            SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
            String subject = "";
            try {
                subject = session == null ? "" : session.getPeerPrincipal().getName();
            } catch (javax.net.ssl.SSLPeerUnverifiedException e) {
                subject = "nobody";
            }
            Context context = Context.current()
                    .withValue(TOKEN, token == null ? "" : token)
                    .withValue(SUBJECT, subject);
            return Contexts.interceptCall(context, call, headers, next);
        }
    }

    private final class Service extends UplinkGrpc.UplinkImplBase {
        @Override
        public StreamObserver<NodeReport> report(StreamObserver<Acknowledgement> node) {
            Connection connection = new Connection(kept, node, TOKEN.get(), SUBJECT.get());
            kept.connections.add(connection);
            return connection;
        }
    }

    /** One stream, and what came over it. */
    static final class Connection implements StreamObserver<NodeReport> {
        final String token;
        final String subject;
        final List<String> ids = new CopyOnWriteArrayList<>();
        final List<List<Fault>> tellings = new CopyOnWriteArrayList<>();
        /** With how many tellings had come before. */
        final List<String> names = new CopyOnWriteArrayList<>();

        final List<String> ahead = new CopyOnWriteArrayList<>();
        final List<Holdings> holdings = new CopyOnWriteArrayList<>();
        final List<Signalled> signalled = new CopyOnWriteArrayList<>();
        final List<String> tokens = new CopyOnWriteArrayList<>();
        private final Kept kept;
        /** The value of the flag when the node connected. */
        private final boolean answers;

        private final StreamObserver<Acknowledgement> node;
        private final List<Fault> pages = new ArrayList<>();
        private final List<Long> open = new ArrayList<>();
        volatile @Nullable Hello hello;
        volatile long asOf;
        volatile int mostOpen;
        private long generation;
        private long sequence;

        Connection(Kept kept, StreamObserver<Acknowledgement> node, String token, String subject) {
            this.kept = kept;
            this.answers = kept.answers;
            this.node = node;
            this.token = token;
            this.subject = subject;
        }

        @Override
        public synchronized void onNext(NodeReport report) {
            if (!kept.token.isEmpty() && !token.equals("Bearer " + kept.token)) {
                node.onError(Status.UNAUTHENTICATED.withDescription("who?").asRuntimeException());
                return;
            }
            if ((hello == null) != report.hasHello()) {
                kept.violations.add("not the place for " + report.getReportCase());
            }
            switch (report.getReportCase()) {
                case HELLO -> welcome(report.getHello());
                case FAULTS -> faults(report.getFaults());
                case EVENT -> event(report.getEvent());
                case AHEAD -> ahead(report.getAhead());
                case GPU_NAMES ->
                    names.add(tellings.size()
                            + report.getGpuNames().getGpusList().stream()
                                    .map(gpu -> " " + gpu.getIndex() + " " + gpu.getPciAddress() + " " + gpu.getUuid())
                                    .collect(Collectors.joining(",")));
                case HOLDINGS -> holdings.add(report.getHoldings());
                case ACCESS_REVIEW -> review(report.getAccessReview());
                case SIGNALLED -> signalled.add(report.getSignalled());
                default -> {}
            }
        }

        private void welcome(Hello said) {
            hello = said;
            if (answers) {
                node.onNext(Acknowledgement.newBuilder()
                        .setWelcome(Welcome.newBuilder()
                                .setAcknowledgedSequence(kept.acknowledged)
                                .setAnswersAccessReviews(kept.answersAccessReviews)
                                .setLimits(FlowLimits.newBuilder().setMaxUnacknowledgedEvents(kept.window)))
                        .build());
            }
        }

        private void faults(FaultPage page) {
            if (page.getGeneration() < generation) {
                kept.violations.add("generation " + page.getGeneration() + " after " + generation);
            }
            generation = page.getGeneration();
            pages.addAll(page.getFaultsList());
            asOf = page.getAsOfSequence();
            if (page.getLast()) {
                tellings.add(List.copyOf(pages));
                pages.clear();
                node.onNext(
                        Acknowledgement.newBuilder().setGeneration(generation).build());
            }
        }

        private void ahead(Fault fault) {
            if (tellings.isEmpty() || fault.getSequence() <= Math.max(asOf, sequence)) {
                kept.violations.add("fault " + fault.getSequence() + " ahead after " + sequence);
            }
            ahead.add(fault.getKey().getEntity().getEntityValue());
        }

        private void event(StoredEvent event) {
            if (tellings.isEmpty() || event.getSequence() <= sequence) {
                kept.violations.add("event " + event.getSequence() + " after " + sequence);
            }
            sequence = event.getSequence();
            ids.add(event.getEvent().getId());
            open.add(sequence);
            mostOpen = Math.max(mostOpen, open.size());
            if (event.getEvent().getId().equals(kept.refusedId)) {
                open.clear();
                node.onNext(Acknowledgement.newBuilder()
                        .setRefused(Refusal.newBuilder().setSequence(sequence).setReason("not \u001b[31mthis"))
                        .build());
                return;
            }
            kept.ids.add(event.getEvent().getId());
            if (kept.acknowledges) {
                acknowledgeFirst();
            }
        }

        private void review(AccessReview review) {
            tokens.add(review.getToken());
            if (kept.access != AccessOutcome.ACCESS_OUTCOME_UNSPECIFIED) {
                verdict(review.getId());
            }
        }

        synchronized void verdict(String id) {
            String reason = kept.access == AccessOutcome.ACCESS_OUTCOME_ALLOWED ? "" : "no \u001b[31m";
            node.onNext(Acknowledgement.newBuilder()
                    .setAccessVerdict(AccessVerdict.newBuilder()
                            .setId(id)
                            .setOutcome(kept.access)
                            .setReason(reason))
                    .build());
        }

        synchronized void acknowledgeFirst() {
            kept.acknowledged = open.remove(0);
            node.onNext(
                    Acknowledgement.newBuilder().setSequence(kept.acknowledged).build());
        }

        synchronized void tellAgain() {
            node.onNext(Acknowledgement.newBuilder()
                    .setTellAgain(TellAgain.getDefaultInstance())
                    .build());
        }

        synchronized void lookup(String id) {
            node.onNext(Acknowledgement.newBuilder()
                    .setLookup(Lookup.newBuilder().setId(id))
                    .build());
        }

        synchronized void signal(String id, String podUid, String signal) {
            node.onNext(Acknowledgement.newBuilder()
                    .setSignal(Signal.newBuilder().setId(id).setPodUid(podUid).setSignal(signal))
                    .build());
        }

        /** Sends an unknown message, like a later version of the aggregator. */
        synchronized void sendOfALaterVersion() {
            UnknownFieldSet.Field something = UnknownFieldSet.Field.newBuilder()
                    .addLengthDelimited(ByteString.copyFromUtf8("?"))
                    .build();
            node.onNext(Acknowledgement.newBuilder()
                    .setUnknownFields(UnknownFieldSet.newBuilder()
                            .addField(999, something)
                            .build())
                    .build());
        }

        Set<String> faultEntities() {
            Set<String> entities = new java.util.TreeSet<>();
            tellings.get(tellings.size() - 1)
                    .forEach(fault -> entities.add(fault.getKey().getEntity().getEntityValue()));
            return entities;
        }

        @Override
        public void onError(Throwable cause) {}

        @Override
        public synchronized void onCompleted() {
            node.onCompleted();
        }
    }
}
