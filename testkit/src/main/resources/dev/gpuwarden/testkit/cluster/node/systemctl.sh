#!/bin/sh
# systemctl of a node of the testkit: restarts the node, which ends this process too, or switches it off.
case "$(basename "$0") $*" in
*reboot*) echo reboot >/run/node/power ;;
*poweroff* | *halt*) echo poweroff >/run/node/power ;;
*)
    echo "systemctl of a node of the testkit: expected reboot or poweroff, seen: $*" >&2
    exit 1
    ;;
esac
