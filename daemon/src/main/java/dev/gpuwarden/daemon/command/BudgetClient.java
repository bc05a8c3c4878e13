package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.ListVramBudgetsRequest;
import dev.gpuwarden.daemon.grpc.NodeClient;
import dev.gpuwarden.daemon.grpc.VramMessages;
import dev.gpuwarden.daemon.vram.VramView;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A client that queries a daemon, if there is one, for budgets. For one thread. */
final class BudgetClient implements AutoCloseable {

    private final Optional<Path> socket;
    private @Nullable NodeClient node;
    private String complained = "";

    private BudgetClient(Optional<Path> socket) {
        this.socket = socket;
    }

    static BudgetClient of(Optional<Path> socket) {
        return new BudgetClient(socket);
    }

    /**
     * Returns the watchdog's state by GPU; empty where no daemon runs, or one without a watchdog. Blocks up to 10 s.
     *
     * @param complain receives the cause if a daemon is there and does not answer, once for each cause
     */
    List<VramView> ask(Consumer<String> complain) {
        if (socket.filter(Files::exists).isEmpty()) {
            return List.of();
        }
        NodeClient connected = node;
        if (connected == null) {
            connected = NodeClient.of(socket.orElseThrow());
            node = connected;
        }
        try {
            return VramMessages.fromWire(
                    ClientCommand.queries(connected).listVramBudgets(ListVramBudgetsRequest.getDefaultInstance()));
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() != Status.Code.UNIMPLEMENTED) {
                tell(
                        complain,
                        ClientFailure.of(e.getStatus(), socket.orElseThrow()).message());
            }
        } catch (DateTimeException e) {
            tell(complain, "the daemon sent an impossible time: " + e.getMessage());
        }
        return List.of();
    }

    private void tell(Consumer<String> complain, String why) {
        if (!why.equals(complained)) {
            complain.accept("no budgets are shown: " + why);
            complained = why;
        }
    }

    @Override
    public void close() {
        if (node != null) {
            node.close();
        }
    }
}
