package dev.gpuwarden.daemon.page;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Who may see the page. */
public final class PageOptions {

    @Option(
            names = "--web.token-file",
            paramLabel = "FILE",
            description = "File with the token that opens the page, its JSON and its archives from other machines, as"
                    + " password or bearer; without one they are served over loopback alone.")
    @Nullable Path tokenFile;

    /** Throws {@link dev.gpuwarden.cli.UserError} where the file is given and holds no token. */
    public PageDoor door() {
        return new PageDoor(Optional.ofNullable(tokenFile));
    }
}
