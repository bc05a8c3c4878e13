# Gives a node the images of an archive. Arguments: ctr, the node's socket, the archive.
exec "$1" --address "$2" --namespace k8s.io images import "$3"
