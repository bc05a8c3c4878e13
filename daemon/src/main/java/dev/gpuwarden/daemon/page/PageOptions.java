package dev.gpuwarden.daemon.page;

import dev.gpuwarden.cli.Switch;
import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of access to the page. */
public final class PageOptions {

    @Option(
            names = "--web.token-file",
            paramLabel = "FILE",
            description = "File with the token that opens the page, its JSON and its archives from other machines, as"
                    + " password or bearer; without one they are served over loopback alone.")
    @Nullable Path tokenFile;

    @Option(
            names = "--web.token-review",
            defaultValue = "off",
            paramLabel = "WHETHER",
            description =
                    "Admit from other machines also clients whose Kubernetes token, for the audience gpuwarden-page, may get"
                            + " nodehealths.gpuwarden.dev/page of this node: the aggregator has it checked. Needs"
                            + " --uplink.address over TLS: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Switch tokenReview = Switch.off;

    /**
     * @param review the reviewer of Kubernetes tokens; empty without an aggregator over TLS
     * @throws UserError if the file is set and holds no token, or if tokens cannot be reviewed
     */
    public PageGuard door(Optional<TokenReviewer> review) {
        if (tokenReview.isOn() && review.isEmpty()) {
            throw new UserError(
                    "--web.token-review=on: expected an aggregator over TLS, which checks the tokens, found none:"
                            + " set --uplink.address without --uplink.insecure");
        }
        return new PageGuard(Optional.ofNullable(tokenFile), review.filter(any -> tokenReview.isOn()));
    }
}
