package dev.gpuwarden.cli;

import java.util.List;

/**
 * The commands of one module, found by {@link java.util.ServiceLoader}.
 *
 * <p>An option whose name holds a dot (`--web.listen-address`) is a setting too: the environment variable
 * `GPUWARDEN_WEB_LISTEN_ADDRESS` and the key `listen-address` under `web` of the configuration file give its default.
 */
public interface CommandGroup {

    /** Returns the commands in the order in which help lists them. */
    List<NamedCommand> commands();
}
