/** Keys and certificates for tests and test clusters, made by openssl. */
package dev.gpuwarden.testkit.tls;
