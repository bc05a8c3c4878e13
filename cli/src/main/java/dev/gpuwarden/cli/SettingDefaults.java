package dev.gpuwarden.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Values of settings that no flag gives: from the environment, else from the file, else picocli takes the declared
 * default. picocli calls this after it has read all arguments, so `--config` is known wherever it stood. The file and
 * the environment are read at the first call, so a command without settings reads neither.
 */
final class SettingDefaults implements IDefaultValueProvider {

    private final Supplier<Settings> own;
    private final Supplier<Settings> all;
    private final SettingSources sources;
    private final Supplier<Optional<Path>> named;
    private final BooleanSupplier lenient;
    private @Nullable Configuration configuration;
    private @Nullable UserError failure;

    SettingDefaults(
            Supplier<Settings> own,
            Supplier<Settings> all,
            SettingSources sources,
            Supplier<Optional<Path>> named,
            BooleanSupplier lenient) {
        this.own = own;
        this.all = all;
        this.sources = sources;
        this.named = named;
        this.lenient = lenient;
    }

    /** Discards all values, for a command line that runs more than once. */
    void reset() {
        configuration = null;
        failure = null;
    }

    /**
     * Returns the problem with the configuration; empty where there is none or no setting was read yet. It is reported
     * only before a command runs, so that `--help` works with a broken file.
     */
    Optional<UserError> failure() {
        return Optional.ofNullable(failure);
    }

    /** Returns keys that cannot be checked now; empty before the first setting is read. */
    List<String> doubts() {
        return configuration == null ? List.of() : configuration.doubts();
    }

    Configuration configuration() {
        if (failure != null) {
            throw failure;
        }
        Configuration known = configuration;
        if (known == null) {
            try {
                known = Configuration.load(own, all, sources, named.get(), lenient);
            } catch (UserError e) {
                failure = e;
                throw e;
            }
            configuration = known;
        }
        return known;
    }

    @Override
    public @Nullable String defaultValue(ArgSpec arg) {
        if (!(arg instanceof OptionSpec option)) {
            return null;
        }
        Optional<Setting> setting = Setting.of(option);
        if (setting.isEmpty() || failure != null) {
            return null;
        }
        try {
            return configuration()
                    .find(setting.get().key())
                    // picocli replaces ${...} in a default, and "$$" by "$".
                    .map(given -> given.joined().replace("$", "$$"))
                    .orElse(null);
        } catch (UserError e) {
            return null;
        }
    }
}
