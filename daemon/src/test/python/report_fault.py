"""Reports a fault as check images made for NVSentinel do, from health_event.proto alone.

usage: report_fault.py PROTO-FOLDER SOCKET
"""
import importlib
import sys
import tempfile

import grpc
from grpc_tools import protoc


def generate(folder, out):
    """Makes modules of the .proto by protoc, like a developer of a check image does once."""
    import grpc_tools

    include = grpc_tools.__path__[0] + "/_proto"
    code = protoc.main(["protoc", "-I" + folder, "-I" + include, "--python_out=" + out, "--grpc_python_out=" + out,
                        "datamodels/health_event.proto"])
    if code != 0:
        raise SystemExit("protoc failed")
    sys.path.insert(0, out)
    return (importlib.import_module("datamodels.health_event_pb2"),
            importlib.import_module("datamodels.health_event_pb2_grpc"))


def main(folder, socket):
    with tempfile.TemporaryDirectory() as out:
        pb, stubs = generate(folder, out)
        event = pb.HealthEvent(
            version=1,
            agent="preflight-dcgm-diag",
            componentClass="GPU",
            checkName="DcgmDiagnosticPCIe",
            isFatal=True,
            message="DCGM_FR_PCIE_REPLAY_RATE: GPU 3 has 213 replays per minute",
            recommendedAction=pb.CONTACT_SUPPORT,
            errorCode=["DCGM_FR_PCIE_REPLAY_RATE"],
            entitiesImpacted=[pb.Entity(entityType="GPU_UUID", entityValue="GPU-455d8f70")],
            metadata={"dcgm.level": "2"},
            processingStrategy=pb.EXECUTE_REMEDIATION,
        )
        event.generatedTimestamp.GetCurrentTime()
        with grpc.insecure_channel("unix://" + socket) as channel:
            connector = stubs.PlatformConnectorStub(channel)
            connector.HealthEventOccurredV1(pb.HealthEvents(version=1, events=[event]), timeout=20)
            print("reported")
            event.nodeName = "another-node"
            try:
                connector.HealthEventOccurredV1(pb.HealthEvents(version=1, events=[event]), timeout=20)
            except grpc.RpcError as e:
                print(e.code().name + ": " + e.details())


main(*sys.argv[1:])
