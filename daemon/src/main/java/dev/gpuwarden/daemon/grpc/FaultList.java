package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.core.event.Fault;
import java.util.ArrayList;
import java.util.List;

/**
 * Faults in the wire format: fatal ones first, then the newest, as many as fit into gRPC's default message size.
 * Pure.
 */
record FaultList(List<dev.gpuwarden.api.v1.Fault> faults, int leftOut) {

    private static final int MAX_BYTES = 3 << 20;

    static FaultList of(List<Fault> faults) {
        List<dev.gpuwarden.api.v1.Fault> wire = new ArrayList<>(faults.size());
        int bytes = 0;
        for (Fault fault : faults.stream().sorted(Fault.FATAL_THEN_NEWEST).toList()) {
            dev.gpuwarden.api.v1.Fault one = FaultCodec.toWire(fault);
            bytes += one.getSerializedSize();
            if (bytes > MAX_BYTES) {
                break;
            }
            wire.add(one);
        }
        return new FaultList(wire, faults.size() - wire.size());
    }

    /** Returns true if the fault meets every condition of the request. */
    static boolean asked(ListFaultsRequest request, Fault fault) {
        return any(request.getAgentsList(), fault.key().agent())
                && any(request.getCheckNamesList(), fault.key().checkName())
                && any(request.getErrorCodesList(), fault.key().errorCode())
                && (request.getEntityValue().isEmpty()
                        || request.getEntityValue().equals(fault.key().entity().value()))
                && (!request.getFatalOnly() || fault.cause().fatal());
    }

    private static boolean any(List<String> wanted, String value) {
        return wanted.isEmpty() || wanted.contains(value);
    }
}
