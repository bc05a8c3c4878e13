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
 * Gives the settings that no flag gives: from the environment, else from the file, else picocli takes the declared default.
 * picocli asks after it has read all arguments, so `--config` is known by then wherever it stood. File and environment are
 * read when the first setting is asked for: a command without settings pays nothing.
 */
final class SettingDefaults implements IDefaultValueProvider {

    private final Supplier<Settings> settings;
    private final SettingSources sources;
    private final Supplier<Optional<Path>> named;
    private final BooleanSupplier lenient;
    private @Nullable Configuration configuration;
    private @Nullable UserError failure;

    SettingDefaults(
            Supplier<Settings> settings,
            SettingSources sources,
            Supplier<Optional<Path>> named,
            BooleanSupplier lenient) {
        this.settings = settings;
        this.sources = sources;
        this.named = named;
        this.lenient = lenient;
    }

    /** Forgets what was read; for a command line that runs more than once. */
    void reset() {
        configuration = null;
        failure = null;
    }

    /**
     * What is wrong with the configuration, if anybody asked for a setting yet. Kept until a command is about to run, so that
     * `--help` works with a broken file.
     */
    Optional<UserError> failure() {
        return Optional.ofNullable(failure);
    }

    /** Keys that nobody can judge now; empty as long as no setting was asked for. */
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
                known = Configuration.load(settings, sources, named.get(), lenient);
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
                    // picocli would replace ${...} in a default; "$$" is how it spells a plain "$".
                    .map(given -> given.joined().replace("$", "$$"))
                    .orElse(null);
        } catch (UserError e) {
            return null;
        }
    }
}
