"""Asks for current faults from node.proto alone, and watches.

usage: find_fault.py PROTO-FOLDER SOCKET
"""
import importlib
import sys
import tempfile

import grpc
import grpc_tools
from grpc_tools import protoc

FILES = ["datamodels/health_event.proto"] + ["gpuwarden/v1/%s.proto" % name for name in
                                             ("reading", "event", "check", "gpu", "vram", "node")]


def main(folder, socket):
    with tempfile.TemporaryDirectory() as out:
        include = grpc_tools.__path__[0] + "/_proto"
        if protoc.main(["protoc", "-I" + folder, "-I" + include, "--python_out=" + out,
                        "--grpc_python_out=" + out] + FILES) != 0:
            raise SystemExit("protoc failed")
        sys.path.insert(0, out)
        pb = importlib.import_module("gpuwarden.v1.node_pb2")
        stubs = importlib.import_module("gpuwarden.v1.node_pb2_grpc")
        with grpc.insecure_channel("unix://" + socket) as channel:
            node = stubs.NodeServiceStub(channel)
            for fault in node.ListFaults(pb.ListFaultsRequest(check_names=["DcgmDiagnosticPCIe"]), timeout=20).faults:
                key = fault.key
                print(key.node_name, key.agent, key.check_name, key.error_code, key.entity.entityType,
                      key.entity.entityValue, fault.cause.message, sep=" | ")
            state = next(iter(node.Watch(pb.WatchRequest(), timeout=20))).state
            print(len(state.faults), "faults,", len(state.gpus), "GPUs watched")
            gpu = node.GetGpu(pb.GetGpuRequest(gpu="0"), timeout=20)
            print([r.value for r in gpu.readings if r.name == "temperature_celsius"])


main(*sys.argv[1:])
