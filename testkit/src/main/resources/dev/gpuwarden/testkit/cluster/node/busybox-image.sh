# Writes an archive of the image localhost/busybox:1, which is this machine's static busybox: the container that holds each
# pod's namespaces, and a shell for pods that need one. Arguments: busybox, the archive to write.
set -eu
busybox=$1 archive=$2
work=$(mktemp -d "$archive.XXXXXX")
mkdir -p "$work/root/bin" "$work/root/etc" "$work/root/tmp" "$work/root/root"
chmod 1777 "$work/root/tmp"
cp "$busybox" "$work/root/bin/busybox"
for name in $("$busybox" --list); do
    [ "$name" = busybox ] || ln -s busybox "$work/root/bin/$name"
done
echo 'root:x:0:0:root:/root:/bin/sh' >"$work/root/etc/passwd"
tar --owner=0 --group=0 --numeric-owner -C "$work/root" -cf "$work/layer.tar" .
cat >"$work/config.json" <<JSON
{"architecture": "$("$busybox" uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')", "os": "linux",
 "config": {"Cmd": ["sleep", "infinity"], "Env": ["PATH=/bin"]},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$(sha256sum "$work/layer.tar" | cut -d' ' -f1)"]}}
JSON
echo '[{"Config": "config.json", "RepoTags": ["localhost/busybox:1"], "Layers": ["layer.tar"]}]' >"$work/manifest.json"
tar -C "$work" -cf "$archive" manifest.json config.json layer.tar
rm -rf "$work"
