package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.ApiException;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** Lets nobody in who does not prove who he is: by a token, or else by a certificate. Blocks while a token is judged. */
final class AuthInterceptor implements ServerInterceptor {

    static final Context.Key<Caller> CALLER = Context.key("caller");

    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
    private static final String BEARER = "Bearer ";

    private final TokenAuthenticator tokens;
    private final IngestMetrics tally;

    AuthInterceptor(TokenAuthenticator tokens, IngestMetrics tally) {
        this.tokens = tokens;
        this.tally = tally;
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        Status no;
        try {
            TokenVerdict verdict = judge(headers.get(AUTHORIZATION), call);
            if (verdict.caller().isPresent()) {
                Context context =
                        Context.current().withValue(CALLER, verdict.caller().get());
                return Contexts.interceptCall(context, call, headers, next);
            }
            no = Status.UNAUTHENTICATED.withDescription(verdict.why());
        } catch (ApiException e) {
            no = Status.UNAVAILABLE.withDescription("the cluster cannot be asked about the token: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            no = Status.UNAVAILABLE.withDescription("the aggregator stops");
        }
        tally.ended(no.getCode());
        call.close(no, new Metadata());
        return new ServerCall.Listener<>() {};
    }

    private static Object address(ServerCall<?, ?> call) {
        SocketAddress address = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
        return address instanceof InetSocketAddress internet ? internet.getAddress() : "unknown";
    }

    private TokenVerdict judge(@Nullable String authorization, ServerCall<?, ?> call)
            throws ApiException, InterruptedException {
        if (authorization != null) {
            return authorization.startsWith(BEARER)
                    ? tokens.review(authorization.substring(BEARER.length()), address(call))
                    : TokenVerdict.no("expected 'Bearer' and a token in the header 'authorization'");
        }
        SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
        try {
            if (session != null && session.getPeerCertificates()[0] instanceof X509Certificate shown) {
                return CertificateNames.verdict(shown);
            }
        } catch (SSLPeerUnverifiedException e) {
            // He showed none.
        }
        return TokenVerdict.no("expected a token in the header 'authorization', or a client certificate");
    }
}
