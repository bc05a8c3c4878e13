package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.Signal.Severity;
import dev.gpuwarden.core.model.PciAddress;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KernelLogParserTest {

    private static final String FALLEN = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a, GPU has fallen off the bus.";

    private static Optional<Signal> parse(String text) {
        return KernelLogParser.standard().parse(text);
    }

    private static Signal read(String text) {
        return parse(text).orElseThrow(() -> new AssertionError("not recognised: " + text));
    }

    private static String pci(Signal signal) {
        return signal.pci().map(address -> Entity.pci(address).value()).orElse("-");
    }

    /** Device in the driver's form | address. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    PCI:0000:3b:00 | 0000:3b:00
                    0000:3b:00 | 0000:3b:00
                    PCI:0000:3B:00 | 0000:3b:00
                    PCI:0000:3b:00.0 | 0000:3b:00
                    PCI:00000000:3b:00.0 | 0000:3b:00
                    PCI:00010000:C1:00 | 10000:c1:00
                    PCI:0001:ab:cd | 0001:ab:cd
                    PCI:3b:00 | 0000:3b:00
                    3b:00.0 | 0000:3b:00
                    PCI:0001:3b | 0001:3b:00
                    PCI:3b | 0000:3b:00
                    PCI:0000:3b:00 GPU-I:05 | 0000:3b:00
                    ' PCI: 0000:3b:00 ' | 0000:3b:00
                    PCI:... | -
                    PCI:0000:3b:00:00 | -
                    PCI:0000:123:00 | -
                    PCI:0000:3b:xx | -
                    '' | -""")
    void everyFormOfAnAddressIsRead(String device, String address) {
        Signal signal = read("NVRM: Xid (" + device + "): 79, GPU has fallen off the bus.");
        assertThat(signal.code()).isEqualTo("79");
        assertThat(pci(signal)).isEqualTo(address);
    }

    /** Text behind the device | code | pid | process. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    `: 13, pid=42, name=python3, Graphics Exception` | 13 | 42 | python3
                    `: 13, pid='42', name='python3', Graphics Exception` | 13 | 42 | python3
                    `: 13, pid="42", name="python3"` | 13 | 42 | python3
                    `: 13, pid='<unknown>', name=<unknown>, Graphics` | 13 | <unknown> | <unknown>
                    `: 13, pid=<unknown>, name=<unknown>` | 13 | <unknown> | <unknown>
                    `:  13 ,  pid=42 ,  name=ray::Worker , Ch 00000010` | 13 | 42 | ray::Worker
                    `: 13, name=python3, Ch 1` | 13 | - | python3
                    `: 13, pid=42, Row Remapper` | 13 | 42 | -
                    `: 13, pid=, name=, Ch 1` | 13 | - | -
                    `: 13, Ch 00000010, pid=42` | 13 | - | -
                    `:13` | 13 | - | -
                    ` : 13` | 13 | - | -
                    `: 13 Graphics Exception` | 13 | - | -
                    `: 013, text` | 13 | - | -""")
    void codeAndProcessAreRead(String behind, String code, String pid, String process) {
        Signal signal = read("NVRM: Xid (PCI:0000:3b:00)" + behind);
        assertThat(signal.code()).isEqualTo(code);
        assertThat(signal.pid().orElse("-")).isEqualTo(pid);
        assertThat(signal.process().orElse("-")).isEqualTo(process);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    NVRM: GPU 0000:01:00.0: GPU has fallen off the bus. | 0000:01:00
                    NVRM: GPU at PCI:0000:01:00.0 has fallen off the bus. | 0000:01:00
                    NVRM: GPU at 0000:01:00.0 has fallen off the bus. | 0000:01:00
                    NVRM: The NVIDIA GPU 0000:b3:00.0 NVRM: (PCI ID: 10de:26b5) installed in this system has NVRM: fallen off the bus and is not responding to commands. | 0000:b3:00
                    NVRM: The NVIDIA GPU 0000:B3:00.0 (PCI ID: 10de:1e07) installed in this#012NVRM: system has fallen off the bus and is not responding | 0000:b3:00
                    NVRM: The NVIDIA GPU 0000:b3:00.0\\x0aNVRM: (PCI ID: 10de:26b5) installed in this system has\\x0aNVRM: fallen off the bus | 0000:b3:00
                    NVRM: fallen off the bus and is not responding to commands. | -
                    NVRM: Xid (PCI:0000:01:00): , GPU has fallen off the bus. | 0000:01:00""")
    void fallenOffBusIsReadWithoutAnXid(String text, String address) {
        Signal signal = read(text);
        assertThat(signal.kind()).isEqualTo(Kind.FALLEN_OFF_BUS);
        assertThat(pci(signal)).isEqualTo(address);
        assertThat(signal.action()).isEqualTo(RecommendedAction.RESTART_BM);
    }

    @Test
    void uuidOfAnAddressIsRead() {
        String uuid = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
        for (String at : new String[] {"PCI:0000:03:00", "0000:03:00", "PCI:00000000:03:00.0"}) {
            Signal signal = read("[19639.966187] NVRM: GPU at " + at + ": " + uuid);
            assertThat(signal.kind()).isEqualTo(Kind.GPU_NAMED);
            assertThat(signal.gpuUuid()).contains(uuid);
            assertThat(signal.pci()).contains(new PciAddress(0, 3, 0, 0));
            assertThat(signal.severity()).isEqualTo(Severity.INFO);
        }
        assertThat(parse("NVRM: GPU at PCI:0000:03:00: GPU-<script>")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    'GPU reset occurred: GPU-455d8f70-2051-db6c-0430-ffc457bff834' | reset | NONE
                    'GPU reset executed: GPU-455d8f70-2051-db6c-0430-ffc457bff834, success: true' | reset | NONE
                    'GPU reset executed: GPU-455d8f70-2051-db6c-0430-ffc457bff834, success: false' | reset-failed | RESTART_VM
                    'Nov 21 02:00:02 node-1 nvsentinel-gpu-reset[7]: GPU reset executed: GPU-455d8f70-2051-db6c-0430-ffc457bff834, success: true' | reset | NONE
                    '<27>Nov 21 02:00:02 node-1 nvsentinel-gpu-reset: GPU reset occurred: GPU-455d8f70-2051-db6c-0430-ffc457bff834' | reset | NONE""")
    void resetIsRead(String text, String code, RecommendedAction action) {
        Signal signal = read(text);
        assertThat(signal.kind()).isEqualTo(Kind.GPU_RESET);
        assertThat(signal.code()).isEqualTo(code);
        assertThat(signal.gpuUuid()).contains("GPU-455d8f70-2051-db6c-0430-ffc457bff834");
        assertThat(signal.action()).isEqualTo(action);
    }

    @Test
    void resetOfAnotherProgramIsIgnored() {
        assertThat(parse(
                        "Nov 21 02:00:02 node-1 bash[7]: GPU reset occurred: GPU-455d8f70-2051-db6c-0430-ffc457bff834"))
                .isEmpty();
        assertThat(parse("Nov 21 02:00:02 node-1 nvsentinel-gpu-reset[7]: " + FALLEN))
                .isEmpty();
    }

    /** Line | code | severity | action. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required) | FATAL | COMPONENT_RESET
                    154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required) | FATAL | RESTART_BM
                    154, GPU recovery action changed from 0x0 (None) to 0x3 (Drain P2P) | FATAL | CONTACT_SUPPORT
                    154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset) | FATAL | COMPONENT_RESET
                    154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None) | INFO | NONE
                    154, GPU recovery action changed from 0x0 to 0x2 | FATAL | RESTART_BM
                    154, GPU recovery action changed | FATAL | CONTACT_SUPPORT""")
    void xid154NamesItsActionItself(String text, Severity severity, RecommendedAction action) {
        Signal signal = read("NVRM: Xid (PCI:0008:01:00): " + text);
        assertThat(signal.code()).isEqualTo("154");
        assertThat(signal.severity()).isEqualTo(severity);
        assertThat(signal.action()).isEqualTo(action);
    }

    /** Seven registers | severity | action | a detail. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    0x1, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0 | INFO | NONE | class_ignore=1.0
                    0x2, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0 | WARNING | NONE | class_secondary=1.1
                    0x30, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0 | WARNING | NONE | class_hw_ecc_parity=1.4,1.5
                    0x100, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0 | FATAL | CONTACT_SUPPORT | class_hw_or_mechanical=1.8
                    0x200000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0 | FATAL | CONTACT_SUPPORT | class_marginal_si=1.21
                    0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0 | WARNING | NONE | class_field_diag_if_repeated=3.16
                    0x0, 0x0, 0x2000, 0x0, 0x0, 0x0, 0x0 | FATAL | CONTACT_SUPPORT | class_unexpected_production=3.13
                    0x0, 0x0, 0x0, 0x40000, 0x0, 0x0, 0x0 | FATAL | COMPONENT_RESET | class_fabric_reset=4.18
                    0x1, 0x0, 0x0, 0x40000, 0x0, 0x0, 0x0 | FATAL | COMPONENT_RESET | class_ignore=1.0
                    0x0, 0x0, 0x0, 0x0, 0x100000, 0x0, 0x0 | WARNING | NONE | class_ecc_threshold=5.20
                    0x0, 0x1, 0x0, 0x0, 0x0, 0x0, 0x0 | FATAL | CONTACT_SUPPORT | class_unlisted=2.0
                    0x80000000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0 | FATAL | CONTACT_SUPPORT | class_unlisted=1.31
                    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0 | FATAL | CONTACT_SUPPORT | register7=0x0
                    0x1, 0x0 | FATAL | CONTACT_SUPPORT | link=14""")
    void theRegistersOfXid74Decide(String registers, Severity severity, RecommendedAction action, String detail) {
        Signal signal = read("NVRM: Xid (PCI:0003:00:00): 74, pid='<unknown>', name=<unknown>,"
                + " NVLink: fatal error detected on link 14(" + registers + ")");
        assertThat(signal.severity()).isEqualTo(severity);
        assertThat(signal.action()).isEqualTo(action);
        assertThat(signal.details()).containsEntry("link", "14");
        assertThat(signal.details().entrySet()).contains(Map.entry(detail.split("=")[0], detail.split("=")[1]));
    }

    /** Text of an SXid line | severity | action. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    12028, Non-fatal, Link 32 egress non-posted PRIV error (First) | WARNING | NONE
                    12028, Fatal, Link 32 egress non-posted PRIV error | FATAL | RESTART_VM
                    11012, Non-fatal, Link 32 ingress ECC | INFO | NONE
                    20034, Fatal, Link 30 LTSSM Fault Up | FATAL | RESTART_VM
                    20034, Non-fatal, Link 30 LTSSM Fault Up | WARNING | NONE
                    20034, LTSSM Fault Up | FATAL | RESTART_VM
                    22003, Fatal, Minion Halt | FATAL | RESTART_BM
                    10003, Host unhandled interrupt | FATAL | RESTART_BM
                    10004, Host thermal event start | WARNING | NONE
                    10005, Host thermal event end | INFO | NONE
                    26006, SOE HALTED | FATAL | CONTACT_SUPPORT
                    20009, Non-fatal, Link 04 RX Short Error Rate | WARNING | NONE
                    99999, Some error | FATAL | CONTACT_SUPPORT
                    99999, Non-fatal, Some error | WARNING | NONE
                    22013, Severity 1 Engine instance 44 Sub-engine instance 00 | INFO | NONE
                    '22013, Data {0x000001c0, 0x00bd5c8a}' | INFO | NONE""")
    void printedSeverityOfAnSxidCounts(String text, Severity severity, RecommendedAction action) {
        Signal signal = read("nvidia-nvswitch3: SXid (PCI:0000:05:00.0): " + text);
        assertThat(signal.kind()).isEqualTo(Kind.SXID);
        assertThat(pci(signal)).isEqualTo("0000:05:00");
        assertThat(signal.severity()).isEqualTo(severity);
        assertThat(signal.action()).isEqualTo(action);
        assertThat(signal.details()).containsEntry("nvswitch", "3");
    }

    @Test
    void detailsAreKept() {
        assertThat(read("NVRM: Xid (PCI:0000:cb:00 GPU-I:05): 13, pid='<unknown>', name=<unknown>,"
                                + " Graphics SM Warp Exception on (GPC 7, TPC 2, SM 1): Illegal Instruction")
                        .details())
                .isEqualTo(Map.of("gpu_instance", "05", "gpc", "7", "tpc", "2", "sm", "1"));
        assertThat(read("NVRM: Xid (PCI:0000:00:07): 31, pid=2, name=a, Ch 8, intr 0. MMU Fault: ENGINE GRAPHICS"
                                + " faulted @ 0x73ac_1c000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE")
                        .details())
                .isEqualTo(Map.of("fault_address", "0x73ac_1c000000", "fault_type", "FAULT_PDE"));
        assertThat(read("NVRM: Xid (PCI:0000:dc:00): 45, pid=1, name=a, Ch 1 caused by previous Xid 149")
                        .details())
                .isEqualTo(Map.of("caused_by", "149"));
    }

    /** Lines in the form of the sources of driver and kernel; messages.tsv has their rows. Line | code | address | severity. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x22:0xffff:667) | init-failed | 0000:3b:00 | FATAL
                    NVRM: GPU 0000:3b:00.0: rm_init_adapter failed, device minor number 0 | init-failed | 0000:3b:00 | FATAL
                    NVRM: GPU 10000:01:00.0: RmInitAdapter failed! (0x22:0xffff:667) | init-failed | 10000:01:00 | FATAL
                    NVRM: kbusFoo: GSP RM heartbeat timed out on GPU 123456:61:00.0 | gsp-timeout | 123456:61:00 | FATAL
                    NVRM: Can't find an IRQ for your NVIDIA card! | irq-missing | - | WARNING
                    NVRM: This PCI I/O region assigned to your NVIDIA device is invalid: NVRM: BAR1 is 0M @ 0x0 (PCI:0000:14:00.0) | bar-invalid | 0000:14:00 | WARNING
                    nvidia 0000:3b:00.0: Unable to change power state from D3cold to D0, device inaccessible | pcie-unreachable | 0000:3b:00 | WARNING
                    nvidia 0000:3b:00.0: Unable to change power state from unknown to D0, device inaccessible | pcie-unreachable | 0000:3b:00 | WARNING
                    pcieport 0000:3a:00.0: Unable to change power state from D3cold to D0, device inaccessible | pcie-unreachable | 0000:3a:00 | WARNING
                    mlx5_core 0000:5c:00.0: Unable to change power state from D3cold to D0, device inaccessible | nic-unreachable | 0000:5c:00 | WARNING
                    NVRM: API mismatch: the client has the version 535.54.03, but | version-mismatch | - | WARNING
                    NVRM: The NVIDIA probe routine failed for 1 device(s). | driver-load-failed | - | FATAL
                    NVRM: None of the NVIDIA devices were initialized. | driver-load-failed | - | FATAL
                    nvidia: probe of 0000:3b:00.0 failed with error -1 | driver-load-failed | 0000:3b:00 | FATAL
                    nvidia 0000:02:00.0: probe with driver nvidia failed with error -1 | driver-load-failed | 0000:02:00 | FATAL
                    NVRM: GPU 0000:3b:00.0: Row Remapper: New row marked for remapping, reset gpu to activate. | row-remap-pending | 0000:3b:00 | WARNING
                    NVRM: Row remapping failure | row-remap-failed | - | FATAL
                    NVRM: _kgspRpcRecvPoll: GSP RM heartbeat timed out on GPU 0000:61:00.0 | gsp-timeout | 0000:61:00 | FATAL
                    NVRM: nvGpuOpsReportFatalError: uvm encountered global fatal error 0x60, requiring os reboot to recover. | uvm-fatal | - | FATAL
                    NVRM: knvlinkDiscoverPostRxDetLinks_GH100: Getting peer0's postRxDetLinkMask failed! | nvlink-discovery-failed | - | WARNING
                    nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing | peermem-invalid-context | - | WARNING
                    mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W). | nic-power | 0000:5c:00 | WARNING
                    mlx5_core 0000:1a:00.0: Port module event[error]: module 0, Cable error, High Temperature | nic-module-hot | 0000:1a:00 | WARNING
                    mlx5_core 0000:1a:00.0: mlx5_cmd_out_err:838:(pid 268): ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2) | nic-access-reg | 0000:1a:00 | INFO
                    mlx5_core 0000:1a:00.0 ens1f0np0: Link down | nic-link-down | 0000:1a:00 | WARNING
                    mlx5_core 0000:1a:00.0 ens1f0np0: Link up | nic-link-up | 0000:1a:00 | INFO
                    mlx5_core 0000:1a:00.0: poll_health:996:(pid 0): device's health compromised - reached miss count | nic-health | 0000:1a:00 | FATAL
                    pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0 | pcie-corrected | 0000:01:00 | INFO
                    pcieport 0000:40:01.1: AER: Uncorrected (Non-Fatal) error received: 0000:41:00.0 | pcie-uncorrected | 0000:41:00 | WARNING
                    pcieport 0000:40:01.1: AER: Uncorrectable (Fatal) error message received from 0000:41:00.0 | pcie-fatal | 0000:41:00 | WARNING
                    pcieport 0000:40:01.1: AER: Uncorrected (Fatal) error received: id=00e5 | pcie-fatal | 0000:40:01 | WARNING
                    nvidia 0000:3b:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID) | pcie-fatal | 0000:3b:00 | FATAL
                    nvidia 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID) | pcie-corrected | 0000:3b:00 | INFO
                    nvidia 0000:3b:00.0: AER: can't recover (no error_detected callback) | pcie-recovery-failed | 0000:3b:00 | FATAL
                    pcieport 0000:3a:00.0: pciehp: Slot(1): Link Down | pcie-link-down | 0000:3a:00 | WARNING
                    pcieport 0000:3a:00.0: pciehp: Slot(1): Link Up | pcie-link-up | 0000:3a:00 | INFO""")
    void messagesOfDriverAndLinksHaveOwnCodes(String text, String code, String address, Severity severity) {
        Signal signal = read("[  123.456789] " + text);
        assertThat(signal.kind()).isEqualTo(Kind.MESSAGE);
        assertThat(signal.code()).isEqualTo(code);
        assertThat(pci(signal)).isEqualTo(address);
        assertThat(signal.severity()).isEqualTo(severity);
        assertThat(signal.why()).isNotEmpty();
    }

    @Test
    void hungTaskNamesItsProcess() {
        Signal signal = read("[ 242.1] INFO: task nvidia-smi:12345 blocked for more than 120 seconds.");
        assertThat(signal.code()).isEqualTo("hung-task");
        assertThat(signal.process()).contains("nvidia-smi");
        assertThat(signal.pid()).contains("12345");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "[ 242.13] ", "Nov 21 02:00:02 node-1 kernel: ", "Nov 21 02:00:02 node-1 kernel: [ 242.13] "
            })
    void crashInsideNcclNamesItsProcess(String prefix) {
        Signal signal =
                read(prefix + "pt main: x[2536443]: segfault at 7f797fe00000 ip 00007f7c7ac69996 sp 00007f7c12fd7c30"
                        + " error 4 in libnccl.so.2[7f7c7ac00000+d3d3000]");
        assertThat(signal.code()).isEqualTo("nccl-segfault");
        assertThat(signal.process()).contains("pt main: x");
        assertThat(signal.pid()).contains("2536443");
    }

    @Test
    void eachBeginningOfAMessageIsFound() {
        assertThat(KernelLogParser.BEGINNINGS).allMatch(beginning -> KernelLogParser.mayBegin("x " + beginning, 2));
    }
}
