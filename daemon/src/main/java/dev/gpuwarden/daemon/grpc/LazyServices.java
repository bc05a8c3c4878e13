package dev.gpuwarden.daemon.grpc;

import io.grpc.HandlerRegistry;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Services that are created on their first call. Their messages are some hundred classes, which a daemon without
 * clients need not load. Thread-safe.
 */
final class LazyServices extends HandlerRegistry {

    private final Map<String, Late> services = new LinkedHashMap<>();

    private static final class Late {
        private final Supplier<ServerServiceDefinition> recipe;
        private @Nullable ServerServiceDefinition made;

        Late(Supplier<ServerServiceDefinition> recipe) {
            this.recipe = recipe;
        }

        synchronized ServerServiceDefinition get() {
            ServerServiceDefinition service = made;
            if (service == null) {
                service = recipe.get();
                made = service;
            }
            return service;
        }
    }

    /**
     * Adds a service.
     *
     * @param name in full; a constant, so that no class is loaded for it
     */
    void add(String name, Supplier<ServerServiceDefinition> recipe) {
        services.put(name, new Late(recipe));
    }

    @Override
    public @Nullable ServerMethodDefinition<?, ?> lookupMethod(String method, @Nullable String authority) {
        int slash = method.lastIndexOf('/');
        Late service = slash < 0 ? null : services.get(method.substring(0, slash));
        return service == null ? null : service.get().getMethod(method);
    }

    /** Creates and returns all services, for reflection. */
    @Override
    public List<ServerServiceDefinition> getServices() {
        return services.values().stream().map(Late::get).toList();
    }
}
