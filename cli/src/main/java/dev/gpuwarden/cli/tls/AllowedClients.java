package dev.gpuwarden.cli.tls;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import javax.net.ssl.X509TrustManager;

/**
 * Trust in clients that an authority signed and, of these, in the ones with an allowed name. A client has no host name to
 * compare with: its certificate identifies it.
 *
 * @param allowedSans empty permits all
 */
record AllowedClients(X509TrustManager signed, Set<String> allowedSans) implements X509TrustManager {

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
        signed.checkClientTrusted(chain, type);
        Collection<List<?>> names = chain[0].getSubjectAlternativeNames();
        boolean known = allowedSans.isEmpty()
                || names != null && names.stream().anyMatch(name -> allowedSans.contains(String.valueOf(name.get(1))));
        if (!known) {
            throw new CertificateException("no name of the client's certificate is among client_allowed_sans");
        }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
        throw new CertificateException("this is a server");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return signed.getAcceptedIssuers();
    }
}
