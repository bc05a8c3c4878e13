package dev.gpuwarden.daemon.store;

import static dev.gpuwarden.daemon.app.FullDisk.check;

import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.daemon.app.FullDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** The first start of a store on a full disk, where it holds all events until there is room. Ends with an error otherwise. */
final class StoreOnFullDisk {

    private StoreOnFullDisk() {}

    public static void main(String... args) throws IOException {
        int cases = 0;
        try (FullDisk disk = FullDisk.of(args)) {
            // With a limit on files SQLite writes a part of its first pages.
            long[] rooms = args.length > 1 ? new long[] {FullDisk.PAGE} : new long[] {0, 100, 5000, 20_000};
            for (long room : rooms) {
                disk.empty();
                disk.full(room);
                run(disk, room);
                cases++;
            }
        }
        System.out.println(cases + " cuts");
    }

    private static void run(FullDisk disk, long room) throws IOException {
        Path file = disk.folder.resolve("gpuwarden-" + room + ".db");
        EventStore store = EventStore.open(StoreSettings.at(file), Clock.systemUTC());
        try {
            // The daemon begins with these calls.
            store.keepReceivers(Set.of("file"));
            store.register("file");
            check(store.events(EventFilter.all()).isEmpty(), "no history");
            check(store.event("none").isEmpty() && store.next("file", 10).isEmpty(), "nothing to send");
            check(store.accept(Events.xid("79", 1)) == Receipt.HELD, "held");
            check(store.faults().size() == 2, "its faults are current");
            String why = store.notStored().orElse("");
            check(why.startsWith("disk full (") || why.startsWith("the disk reports errors ("), "why: " + why);
            disk.free();
            for (int i = 0; store.notStored().isPresent() && i < 3000; i++) {
                LockSupport.parkNanos(10_000_000);
            }
            check(store.notStored().isEmpty(), "stored once there is room: " + store.notStored());
            check(store.events(EventFilter.all()).size() == 1, "in the history");
            check(store.next("file", 10).size() == 1, "and for the receiver");
        } finally {
            store.close();
        }
        EventStore next = EventStore.open(StoreSettings.at(file), Clock.systemUTC());
        check(next.faults().size() == 2, "after a restart");
        check(
                next.accept(java.util.List.of(Events.xid("79", 1)), Optional.empty())
                                .get(0)
                        == Receipt.DUPLICATE,
                "once");
        next.close();
        for (String part : new String[] {"", "-wal", "-shm", ".lock"}) {
            Files.deleteIfExists(Path.of(file + part));
        }
    }
}
