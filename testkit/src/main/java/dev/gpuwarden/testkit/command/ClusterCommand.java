package dev.gpuwarden.testkit.command;

import picocli.CommandLine.Command;

/** A Kubernetes cluster on this machine. */
@Command(
        name = "cluster",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = {
            "A real Kubernetes cluster on this machine: kubelet and containerd on every node, with simulated GPUs.",
            "Needs root. The image localhost/busybox:1 is on every node; nothing comes from a registry.",
            "  sudo ./gpuwarden cluster up --nodes 3",
            "  eval \"$(sudo ./gpuwarden cluster env)\"",
            "  sudo ./gpuwarden cluster inject node-1 xid=79 --gpu 4",
            "  sudo ./gpuwarden cluster down"
        },
        subcommands = {
            ClusterUpCommand.class,
            ClusterStatusCommand.class,
            ClusterEnvCommand.class,
            ClusterInjectCommand.class,
            ClusterDownCommand.class,
            ClusterHoldCommand.class
        })
final class ClusterCommand {}
