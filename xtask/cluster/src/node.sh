# The first process of a node: in a mount namespace and a PID namespace of its own, so that all of the node ends with this shell,
# which ends with its input. usage: sh node.sh FOLDER NAME KUBELET...
set -eu
folder=$1
name=$2
shift 2

# The mounts of pods are to be seen by the runtime, and by nobody outside.
mount --make-rshared /
# What is kept in fixed places is kept in memory.
for place in /run /var/log "$folder/private"; do mount -t tmpfs -o mode=0755 tmpfs "$place"; done
mkdir /run/netns "$folder/private/upper" "$folder/private/work"
mount -t overlay -o "lowerdir=/var/lib,upperdir=$folder/private/upper,workdir=$folder/private/work" overlay /var/lib
# A kubelet sets what follows where it is different. It is the machine's: the kubelet sees what it wants, and can change nothing.
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  file=$folder/private/$(echo "${setting%=*}" | tr / -)
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done

containerd --config "$folder/containerd.toml" </dev/null >"$folder/containerd.log" 2>&1 &
until ctr --address "$folder/containerd.sock" version >/dev/null 2>&1; do
  kill -0 $!
  sleep 0.1
done
for image in "$folder"/images/*.tar; do
  ctr --address "$folder/containerd.sock" --namespace k8s.io images import "$image" >>"$folder/images.log" 2>&1
done
"$@" --config "$folder/kubelet.yaml" --kubeconfig "$folder/kubelet.kubeconfig" --root-dir "$folder/private/kubelet" \
  --cert-dir "$folder/private/certs" --hostname-override "$name" </dev/null >"$folder/kubelet.log" 2>&1 &
read -r _ || true
