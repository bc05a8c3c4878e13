#!/usr/bin/env python3
"""Writes a table for hand experiments, through sim-layout.tsv by field name.

    fill_table.py LAYOUT TABLE [gpus=2] [path=value ...]

A path is struct members joined by dots, array elements in brackets:
    gpu[0].temp_gpu=91  gpu[1].state=1  fault[0].function=nvmlDeviceGetTemperature
An existing table is changed in place; a new one gets invented round values for `gpus` GPUs.
"""
import os
import re
import struct
import sys


class Table:
    def __init__(self, layout, path):
        self.fields, self.sizes, self.constants, self.functions = {}, {}, {}, {}
        for line in open(layout):
            c = line.rstrip("\n").split("\t")
            if line.startswith("#") or c[0] == "reset":
                continue
            if c[0] == "const":
                self.constants[c[1]] = int(c[2])
            elif c[0] == "function":
                self.functions[c[1]] = int(c[2])
            elif c[0] == "size":
                self.sizes[c[1]] = int(c[3])
            else:
                self.fields[c[0], c[1]] = (int(c[2]), int(c[3]), c[4], int(c[5]), c[6])
        self.new = not os.path.exists(path)
        self.path = path
        if self.new:
            self.data = bytearray(self.sizes["table"])
            self.defaults("table", 0)
        else:
            self.data = bytearray(open(path, "rb").read())

    def defaults(self, owner, base):
        for (struct_name, _), (offset, size, kind, count, standard) in self.fields.items():
            if struct_name != owner or kind == "str":
                continue
            for i in range(count):
                at = base + offset + i * size
                if kind == "i64":
                    struct.pack_into("<q", self.data, at, int(standard))
                else:
                    self.defaults(kind, at)

    def set(self, path, value):
        owner, base = "table", 0
        for part in path.split("."):
            name, index = re.match(r"(\w+)(?:\[(\d+)\])?$", part).groups()
            offset, size, kind, count, _ = self.fields[owner, name]
            if int(index or 0) >= count:
                raise SystemExit(f"{path}: {name} has {count} elements")
            base, owner = base + offset + int(index or 0) * size, kind
        if kind == "str":
            text = str(value).encode()[: size - 1]
            self.data[base : base + size] = text + bytes(size - len(text))
        else:
            known = {**self.constants, **self.functions}
            struct.pack_into("<q", self.data, base, known[value] if value in known else int(str(value), 0))

    def save(self):
        if self.new:
            open(self.path, "wb").write(self.data)
        else:
            with open(self.path, "r+b") as file:
                file.write(self.data)


def invent(table, gpus):
    table.set("header.gpu_count", gpus)
    table.set("header.cuda_version", 12040)
    for g in range(gpus):
        values = dict(
            minor=g, pci_bus=0x1B + 0x10 * g, pci_device_id=0x233010DE, pci_subsystem_id=0x16C110DE,
            name="NVIDIA H100 80GB HBM3", uuid=f"GPU-6f1a0000-1111-2222-3333-44445555000{g}",
            serial=f"165302100000{g}", board_part="692-2G520-0200-000", gpu_part="2330-885-A1", vbios="96.00.61.00.01",
            inforom_image="G520.0200.00.05", inforom_oem="2.1", inforom_ecc="7.16", brand=14,
            architecture=9, cuda_major=9, module_id=g + 1, numa_node=0, mem_total=85520809984,
            mem_reserved=578 << 20, mem_used=1 << 30, bar1_total=128 << 30, bar1_used=1 << 20,
            util_gpu=37, util_mem=12, util_enc=0, util_dec=0, util_jpg=0, util_ofa=0, temp_gpu=41,
            temp_memory=45, temp_margin=46, fan_count=0, power_usage=118000, power_average=117000,
            power_instant=118500, power_limit=700000, power_enforced=700000, power_default=700000,
            power_min=200000, power_max=700000, energy_mj=123456789, pstate=0, clock_reasons=0,
            persistence=1, display_mode=0, display_active=0, compute_mode=0, accounting=0,
            ecc_current=1, ecc_pending=1, remap_corr=0, pcie_gen=5, pcie_gen_max=5,
            pcie_gen_gpu_max=5, pcie_gen_host_max=5, pcie_width=16, pcie_width_max=16, pcie_replay=0, pcie_rollover=0,
            pcie_tx_kbps=1200, pcie_rx_kbps=3400, nvlink_count=18, fabric_state=3,
            fabric_status=0, mig_current=0, events_supported=0x1C1F, recovery_action=0,
            gsp_version="550.163.01", gsp_mode=1, inforom_valid=1, inforom_checksum=0x1234, cpu_first=0, cpu_last=55)
        for name, value in values.items():
            table.set(f"gpu[{g}].{name}", value)
        for i, mhz in enumerate((1980, 1980, 2619, 1545)):
            table.set(f"gpu[{g}].clock[{i}]", mhz)
            table.set(f"gpu[{g}].clock_max[{i}]", mhz)
        for name, count in (("ecc_total", 4), ("ecc_location", 32), ("sram_aggregate", 3),
                            ("remap_histogram", 5), ("violation_ns", 12), ("reason_ns", 3)):
            for i in range(count):
                table.set(f"gpu[{g}].{name}[{i}]", 0)
        table.set(f"gpu[{g}].remap_histogram[0]", 2560)
        for i, degrees in enumerate((-8, -2, 0, 0)):
            table.set(f"gpu[{g}].temp_tlimit[{i}]", degrees)
        for i in range(18):
            link = f"gpu[{g}].link[{i}]."
            for name, value in dict(state=1, version=4, speed_mbps=26562, remote_type=2,
                                    remote_domain=0, remote_bus=3 + i % 4, capabilities=0x17).items():
                table.set(link + name, value)
            for i in range(5):
                table.set(link + f"error[{i}]", 0)
    if gpus:
        table.set("header.process_count", 1)
        for name, value in dict(gpu=0, pid=4242, bytes=1 << 30, name="/usr/bin/python3").items():
            table.set(f"process[0].{name}", value)


def main(arguments):
    table = Table(*arguments[:2])
    rest = dict(a.split("=", 1) for a in arguments[2:])
    gpus = int(rest.pop("gpus", 2))
    if table.new:
        invent(table, gpus)
    for path, value in rest.items():
        table.set(path, value)
    table.save()


if __name__ == "__main__":
    main(sys.argv[1:])
