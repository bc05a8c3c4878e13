package dev.gpuwarden.nccl.run;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.nccl.plan.Collective;
import dev.gpuwarden.nccl.plan.Layout;

/**
 * A collective as calls of the library. Those that the library lacks in most versions are groups of sends and receives, as in nccl-tests.
 *
 * @param operator the library's number; unused where nothing is reduced
 * @param root -1 where there is none
 */
record Operation(Collective collective, int rank, int ranks, int operator, int root) {

    /** Enqueues one operation on these addresses. */
    void enqueue(Communicator communicator, Layout layout, long send, long receive) throws CollectiveException {
        ElementType type = layout.type();
        long count = layout.count();
        switch (collective) {
            case ALL_REDUCE -> communicator.allReduce(send, receive, count, type, operator);
            case ALL_GATHER -> communicator.allGather(send, receive, count, type);
            case REDUCE_SCATTER -> communicator.reduceScatter(send, receive, count, type, operator);
            case BROADCAST -> communicator.broadcast(send, receive, count, type, root);
            case REDUCE -> communicator.reduce(send, receive, count, type, operator, root);
            case HYPERCUBE -> hypercube(communicator, layout, send, receive);
            default -> grouped(communicator, layout, send, receive);
        }
    }

    private void grouped(Communicator communicator, Layout layout, long send, long receive) throws CollectiveException {
        ElementType type = layout.type();
        long count = layout.count();
        if (count == 0) {
            return;
        }
        long part = count * type.bytes();
        communicator.startGroup();
        switch (collective) {
            case SENDRECV -> {
                communicator.send(send, count, type, (rank + 1) % ranks);
                communicator.receive(receive, count, type, (rank + ranks - 1) % ranks);
            }
            case GATHER -> {
                communicator.send(send, count, type, root);
                for (int from = 0; rank == root && from < ranks; from++) {
                    communicator.receive(receive + from * part, count, type, from);
                }
            }
            case SCATTER -> {
                for (int to = 0; rank == root && to < ranks; to++) {
                    communicator.send(send + to * part, count, type, to);
                }
                communicator.receive(receive, count, type, root);
            }
            default -> {
                for (int peer = 0; peer < ranks; peer++) {
                    communicator.send(send + peer * part, count, type, peer);
                    communicator.receive(receive + peer * part, count, type, peer);
                }
            }
        }
        communicator.endGroup();
    }

    /** Gathers all parts in as many steps as the number of ranks has bits: each doubles the known parts. */
    private void hypercube(Communicator communicator, Layout layout, long send, long receive)
            throws CollectiveException {
        long part = layout.count() * layout.type().bytes();
        if (part == 0) {
            return;
        }
        if (receive + rank * part != send) {
            communicator.copy(receive + rank * part, send, part);
        }
        for (int known = 1; known < ranks; known *= 2) {
            int mine = rank & -known;
            int peer = rank ^ known;
            communicator.startGroup();
            communicator.send(receive + mine * part, layout.count() * known, layout.type(), peer);
            communicator.receive(receive + (mine ^ known) * part, layout.count() * known, layout.type(), peer);
            communicator.endGroup();
        }
    }
}
