#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the XML files of the machines that ctran knows without having them.

    machines.py FOLDER      writes FOLDER/NAME.xml for each machine
    machines.py --check     compares them with what stands beside this script; 1: they differ

What is said here is the layout alone: processors, memory, PCI. It follows public listings of the
real machines (lstopo, lspci -t, nvidia-smi topo -m); addresses are real ones where they are known.
NAME.machine beside each file says the rest, by hand.
"""
import os
import re
import sys


def bits(numbers):
    """A set as hwloc writes it: words of 32 bits, the highest first."""
    value = sum(1 << n for n in set(numbers))
    words = []
    while value or not words:
        words.append(value & 0xFFFFFFFF)
        value >>= 32
    return ",".join("0x%08x" % w for w in reversed(words))


class Node:
    """An object of the tree; `sets` are given to those that have processors."""

    def __init__(self, kind, attrs=(), children=(), info=()):
        self.kind, self.attrs = kind, list(attrs)
        self.children, self.info = list(children), list(info)
        self.cpus, self.nodes = None, None

    def write(self, out, depth, count):
        count[0] += 1
        attrs = [("type", self.kind)] + self.attrs
        if self.cpus is not None:
            cpus, nodes = bits(self.cpus), bits(self.nodes)
            attrs += [("cpuset", cpus), ("complete_cpuset", cpus)]
            if self.kind == "Machine":
                attrs += [("allowed_cpuset", cpus)]
            attrs += [("nodeset", nodes), ("complete_nodeset", nodes)]
            if self.kind == "Machine":
                attrs += [("allowed_nodeset", nodes)]
        attrs.append(("gp_index", count[0]))
        text = " ".join('%s="%s"' % a for a in attrs)
        pad = "  " * depth
        if not self.children and not self.info:
            out.append("%s<object %s/>" % (pad, text))
            return
        out.append("%s<object %s>" % (pad, text))
        for name, value in self.info:
            out.append('%s  <info name="%s" value="%s"/>' % (pad, name, value))
        for child in self.children:
            child.write(out, depth + 1, count)
        out.append("%s</object>" % pad)


# ---- processors ------------------------------------------------------------------------------


def numa(os_index, cpus, memory, nodes=None):
    n = Node("NUMANode", [("os_index", os_index), ("local_memory", memory)])
    n.cpus, n.nodes = cpus, nodes if nodes is not None else [os_index]
    return n


def package(index, cores, l3_bytes, numas, devices=(), model=""):
    """cores: a list of lists of processors; numas: (os_index, bytes), the first its main memory."""
    cpus = [p for core in cores for p in core]
    nodes = [n for n, _ in numas]
    inside = []
    for i, core in enumerate(cores):
        pus = []
        for p in core:
            pu = Node("PU", [("os_index", p)])
            pu.cpus, pu.nodes = [p], nodes
            pus.append(pu)
        c = Node("Core", [("os_index", i)], pus)
        c.cpus, c.nodes = core, nodes
        inside.append(c)
    l3 = Node("L3Cache", [("cache_size", l3_bytes), ("depth", 3), ("cache_linesize", 64),
                          ("cache_associativity", 16), ("cache_type", 0)], inside)
    l3.cpus, l3.nodes = cpus, nodes
    memory = [numa(n, cpus, size) for n, size in numas]
    p = Node("Package", [("os_index", index)], memory + [l3] + list(devices),
             [("CPUModel", model)] if model else [])
    p.cpus, p.nodes = cpus, nodes
    return p


def machine(packages, devices=(), info=()):
    m = Node("Machine", [("os_index", 0)], list(packages) + list(devices), info)
    m.cpus = [c for p in packages for c in p.cpus]
    m.nodes = [n for p in packages for n in p.nodes]
    return m


def threads(first, count, second=None):
    """Cores of one thread, or of two, the second ones from `second` on."""
    return [[first + i] + ([second + i] if second is not None else []) for i in range(count)]


# ---- devices ---------------------------------------------------------------------------------


def device(address, pci_class, ids, speed, children=(), info=()):
    return Node("PCIDev", [("pci_busid", address),
                           ("pci_type", "%04x [%s] [%s] 00" % (pci_class, ids, ids)),
                           ("pci_link_speed", "%f" % speed)], children, info)


def bus_of(address):
    return int(re.match(r"[0-9a-f]{4}:([0-9a-f]{2}):", address).group(1), 16)


def highest_bus(node):
    own = [int(v[8:10], 16) for k, v in node.attrs if k == "bridge_pci"]
    own += [bus_of(v) for k, v in node.attrs if k == "pci_busid"]
    return max(own + [highest_bus(c) for c in node.children if c.kind in ("Bridge", "PCIDev")])


def bridge(address, secondary, children, ids="8086:352a", speed=63.015385):
    top = max(highest_bus(c) for c in children)
    return Node("Bridge", [("bridge_type", "1-1"), ("depth", 1),
                           ("bridge_pci", "%s:[%02x-%02x]" % (address[:4], secondary, top)),
                           ("pci_busid", address), ("pci_type", "0604 [%s] [%s] 00" % (ids, ids)),
                           ("pci_link_speed", "%f" % speed)], children)


def set_depth(node, depth):
    node.attrs = [(k, depth if k == "depth" else v) for k, v in node.attrs]
    for child in node.children:
        if child.kind == "Bridge":
            set_depth(child, depth + 1)


def host_bridge(domain, bus, children):
    top = max(highest_bus(c) for c in children)
    b = Node("Bridge", [("bridge_type", "0-1"), ("depth", 0),
                        ("bridge_pci", "%04x:[%02x-%02x]" % (domain, bus, top))], children)
    set_depth(b, 0)
    return b


def os_device(kind, name, info=(), subtype=None):
    kinds = {"gpu": 1, "net": 2, "verbs": 3, "coproc": 5}
    sub = [("subtype", subtype)] if subtype else []
    return Node("OSDev", [("name", name)] + sub + [("osdev_type", kinds[kind])], (), info)


def verbs(name, guid, states=(4,), lid="0x1"):
    info = [("NodeGUID", guid)]
    for port, state in enumerate(states, 1):
        info += [("Port%dState" % port, state), ("Port%dLID" % port, lid)]
    return os_device("verbs", name, info)


def guid(number):
    return "a088:c203:00%02x:%04x" % (number >> 16 & 0xFF, number & 0xFFFF)


def infiniband(address, name, netdev, number, ids="15b3:1021", speed=63.015385):
    return device(address, 0x0207, ids, speed,
                  [os_device("net", netdev), verbs(name, guid(number))])


def roce(address, name, netdev, number, ids="15b3:1021", speed=63.015385, state=4):
    return device(address, 0x0200, ids, speed,
                  [os_device("net", netdev), verbs(name, guid(number), (state,), "0x0")])


def ethernet(address, netdev, ids, speed=3.938462):
    return device(address, 0x0200, ids, speed, [os_device("net", netdev)])


def gpu(address, ids, speed=63.015385, pci_class=0x0302):
    return device(address, pci_class, ids, speed)


# ---- the machines ----------------------------------------------------------------------------


def dgx_h100():
    """A GPU and its NIC hang on one switch, the GPU behind a second one (so nvidia-smi says PXB);
    the NIC of each tree has the bus from which all else follows."""
    def tree(nic_bus, name):
        at = "0000:%02x:%02x.0"
        n = nic_bus
        return host_bridge(0, n - 3, [
            bridge(at % (n - 3, 1), n - 2, [
                bridge(at % (n - 2, 0), n - 1, [
                    bridge(at % (n - 1, 0), n, [
                        infiniband(at % (n, 0), name, "ibp%ds0" % n, n)], "1000:c030"),
                    bridge(at % (n - 1, 1), n + 1, [
                        bridge(at % (n + 1, 0), n + 2, [
                            bridge(at % (n + 2, 0), n + 3, [
                                gpu(at % (n + 3, 0), "10de:2330")], "1000:c030")],
                               "1000:c030")], "1000:c030")], "1000:c030")])])

    def storage(bus, names):
        at = "0000:%02x:%02x.%d"
        return host_bridge(0, bus - 1, [
            bridge(at % (bus - 1, 1, 0), bus, [
                roce(at % (bus, 0, f), names[f], "enp%ds0f%dnp%d" % (bus, f, f), 0x100 + bus + f)
                for f in (0, 1)])])

    first = [tree(0x18, "mlx5_0"), storage(0x29, ("mlx5_1", "mlx5_2")), tree(0x40, "mlx5_3"),
             tree(0x4F, "mlx5_4"), tree(0x5E, "mlx5_5")]
    second = [tree(0x9A, "mlx5_6"), storage(0xAA, ("mlx5_7", "mlx5_8")), tree(0xC0, "mlx5_9"),
              tree(0xCE, "mlx5_10"), tree(0xDC, "mlx5_11")]
    management = host_bridge(0, 0, [bridge("0000:00:1c.0", 5, [
        ethernet("0000:05:00.0", "eno3", "8086:1563")])])
    model = "Intel(R) Xeon(R) Platinum 8480C"
    return machine([
        package(0, threads(0, 56, 112), 110100480, [(0, 1 << 40)], [management] + first, model),
        package(1, threads(56, 56, 168), 110100480, [(1, 1 << 40)], second, model)])


def p4d():
    """As a guest sees it: no switch, but a bus for each, with two GPUs and one EFA."""
    def group(bus, efa, ena_dev):
        at = "0000:%02x:%02x.0"
        return host_bridge(0, bus, [
            ethernet(at % (bus, ena_dev), "ens%d" % (bus + ena_dev), "1d0f:ec20", 0),
            device(at % (bus, 0x1B), 0x0200, "1d0f:efa0", 0,
                   [os_device("verbs", efa, [("Port1State", 4), ("Port1LID", "0x0")])]),
            gpu(at % (bus, 0x1C), "10de:20b0", 31.507692),
            gpu(at % (bus, 0x1D), "10de:20b0", 31.507692)])

    model = "Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz"
    return machine([
        package(0, threads(0, 24, 48), 37486592, [(0, 602206875648)],
                [group(0x10, "rdmap16s27", 0), group(0x20, "rdmap32s27", 1)], model),
        package(1, threads(24, 24, 72), 37486592, [(1, 602206875648)],
                [group(0x90, "rdmap144s27", 1), group(0xA0, "rdmap160s27", 1)], model)])


def gb200():
    """A compute tray: each device has a PCI domain of its own, so NICs and GPUs of a socket meet
    in the processor. A ConnectX-7 has a switch in it; so has the BlueField-3, with two ports."""
    def nic(domain, device_or_two):
        at = "%04x:%02x:%02x.0"
        return host_bridge(domain, 0, [bridge(at % (domain, 0, 0), 1, [
            bridge(at % (domain, 1, 0), 2, [
                bridge(at % (domain, 2, 0), 3, device_or_two, "15b3:197b")],
                   "15b3:197b")], "10de:22b1")])

    def cx7(domain, name):
        address = "%04x:03:00.0" % domain
        netdev = "ibP%dp3s0" % domain if domain else "ibp3s0"
        return nic(domain, [infiniband(address, name, netdev, domain)])

    def bf3(domain, names):
        return nic(domain, [roce("%04x:03:00.%d" % (domain, f), names[f],
                                 "enP%dp3s0f%dnp%d" % (domain, f, f), 0x200 + domain + f,
                                 "15b3:a2dc") for f in (0, 1)])

    def one_gpu(domain):
        return host_bridge(domain, 0, [bridge("%04x:00:00.0" % domain, 1, [
            gpu("%04x:01:00.0" % domain, "10de:2941")], "10de:22b1")])

    hbm = 192 << 30
    return machine([
        package(0, threads(0, 72), 119537664, [(0, 480 << 30), (2, hbm), (10, hbm)],
                [cx7(0x0, "mlx5_0"), cx7(0x2, "mlx5_1"), bf3(0x6, ("mlx5_2", "mlx5_3")),
                 one_gpu(0x8), one_gpu(0x9)]),
        package(1, threads(72, 72), 119537664, [(1, 480 << 30), (18, hbm), (26, hbm)],
                [cx7(0x10, "mlx5_4"), cx7(0x12, "mlx5_5"), bf3(0x16, ("mlx5_6", "mlx5_7")),
                 one_gpu(0x18), one_gpu(0x19)])])


def grace():
    """A GH200: one processor, one GPU whose memory is a NUMA node, one NIC."""
    return machine([
        package(0, threads(0, 72), 119537664, [(0, 480 << 30), (1, 96 << 30)], [
            host_bridge(0, 0, [bridge("0000:00:00.0", 1, [
                infiniband("0000:01:00.0", "mlx5_0", "ibp1s0", 1)], "10de:22b2")]),
            host_bridge(9, 0, [bridge("0009:00:00.0", 1, [
                gpu("0009:01:00.0", "10de:2342")], "10de:22b1")])])])


def cpu2s():
    nic = host_bridge(0, 0x5D, [bridge("0000:5d:00.0", 0x5E, [
        infiniband("0000:5e:00.0", "mlx5_0", "ib0", 0x5E, "15b3:101b", 31.507692)])])
    control = host_bridge(0, 0, [bridge("0000:00:1c.5", 4, [
        ethernet("0000:04:00.0", "eno1", "8086:1521", 2.0)])])
    model = "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"
    return machine([
        package(0, threads(0, 32), 50331648, [(0, 256 << 30)], [control, nic], model),
        package(1, threads(32, 32), 50331648, [(1, 256 << 30)], [], model)])


def laptop():
    """One processor, an integrated GPU that is none for us, a wireless NIC and a wired one."""
    devices = host_bridge(0, 0, [
        device("0000:00:02.0", 0x0300, "8086:9a49", 0, [os_device("gpu", "card0")]),
        device("0000:00:14.3", 0x0280, "8086:a0f0", 0, [os_device("net", "wlp0s20f3")]),
        device("0000:00:1f.6", 0x0200, "8086:15fc", 0, [os_device("net", "enp0s31f6")])])
    return machine([package(0, [[0, 4], [1, 5], [2, 6], [3, 7]], 12582912, [(0, 16 << 30)], [],
                            "11th Gen Intel(R) Core(TM) i7-1185G7 @ 3.00GHz")], [devices])


def broken():
    """Two sockets, two GPUs, two NICs, and a firmware or container that hides the PCI bus."""
    cuda = [os_device("coproc", "cuda%d" % i, [("Backend", "CUDA"),
                                               ("GPUModel", "NVIDIA A100-PCIE-40GB")], "CUDA")
            for i in (0, 1)]
    nics = [verbs("mlx5_%d" % i, guid(0x300 + i)) for i in (0, 1)]
    return machine([
        package(0, threads(0, 16), 33554432, [(0, 128 << 30)]),
        package(1, threads(16, 16), 33554432, [(1, 128 << 30)])],
        cuda + nics + [os_device("net", "eth0")])


MACHINES = {"dgx-h100": dgx_h100, "p4d": p4d, "gb200": gb200, "grace": grace, "cpu2s": cpu2s,
            "laptop": laptop, "broken": broken}


def text_of(name):
    out = ['<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE topology SYSTEM "hwloc2.dtd">',
           "<!-- Made by machines.py; change it there. -->", '<topology version="2.0">']
    MACHINES[name]().write(out, 1, [0])
    return "\n".join(out + ["</topology>", ""])


def main(argv):
    if len(argv) != 2:
        sys.stderr.write(__doc__)
        return 2
    here = os.path.dirname(os.path.abspath(__file__))
    wrong = []
    for name in sorted(MACHINES):
        if argv[1] == "--check":
            with open(os.path.join(here, name + ".xml"), encoding="utf-8") as f:
                if f.read() != text_of(name):
                    wrong.append(name)
        else:
            with open(os.path.join(argv[1], name + ".xml"), "w", encoding="utf-8") as f:
                f.write(text_of(name))
    for name in wrong:
        sys.stderr.write("%s.xml is not what machines.py writes: run it\n" % name)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
