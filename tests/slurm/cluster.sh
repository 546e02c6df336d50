#!/usr/bin/env bash
# Run a command on a real SLURM of one node, this machine: cluster.sh COMMAND ...
# Needs root and apt. Installs Debian's slurm-wlm and munge where they are missing, starts munged,
# slurmctld and slurmd on loopback, and ends them again, however the command ends.
set -euo pipefail

refuse() {
    echo "make test-slurm cannot run here: $1" >&2
    exit 2
}

[ "$(id -u)" = 0 ] || refuse "it starts a SLURM of its own, which needs root"

CONF=/etc/slurm/slurm.conf
GRES=/etc/slurm/gres.conf
MARK="# written by tests/slurm/cluster.sh"
if [ -e "$CONF" ] && ! grep -qxF "$MARK" "$CONF"; then
    refuse "$CONF belongs to another SLURM, which is left alone"
fi
for daemon in slurmctld slurmd; do
    ! pgrep -x "$daemon" >/dev/null || refuse "$daemon is running already"
done

# One name at a time: of several, `command -v` is content with any.
lacks_slurm() {
    for name in slurmctld slurmd sbatch munged; do
        command -v "$name" >/dev/null || return 0
    done
    return 1
}
if lacks_slurm; then
    command -v apt-get >/dev/null || refuse "SLURM is missing, and there is no apt-get to install it"
    echo "installing Debian's slurm-wlm and munge"
    export DEBIAN_FRONTEND=noninteractive
    # RUNLEVEL=1 keeps Debian from starting the daemons itself.
    { apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq --no-install-recommends \
        slurm-wlm munge; } >/dev/null 2>&1 || refuse "apt-get could not install slurm-wlm and munge"
fi

STATE=$(mktemp -d -t chaos-slurm-XXXXXX)
chmod 755 "$STATE" # munged, which is not root, must reach its own folder in it
MUNGE="$STATE/munge"

end() {
    set +e
    local file pid
    scancel --me --quiet 2>/dev/null
    for file in "$STATE"/slurmd.pid "$STATE"/slurmctld.pid "$MUNGE"/munged.pid; do
        [ -s "$file" ] || continue
        pid=$(cat "$file")
        kill "$pid" 2>/dev/null
        for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -9 "$pid" 2>/dev/null
    done
    rm -rf "$STATE" "$CONF" "$GRES"
}
trap end EXIT
trap 'exit 130' INT TERM

HOST=$(hostname -s)
mkdir -p /etc/slurm "$STATE/slurmctld" "$STATE/slurmd"
cat >"$CONF" <<CONFIG
$MARK
ClusterName=chaos
SlurmctldHost=$HOST(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$MUNGE/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
StateSaveLocation=$STATE/slurmctld
SlurmdSpoolDir=$STATE/slurmd
SlurmctldPidFile=$STATE/slurmctld.pid
SlurmdPidFile=$STATE/slurmd.pid
SlurmctldLogFile=$STATE/slurmctld.log
SlurmdLogFile=$STATE/slurmd.log
# The node claims more than it has, and a GPU, so that the project's own profile can be tested.
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=$HOST NodeAddr=127.0.0.1 CPUs=8 RealMemory=128000 Gres=gpu:1 State=UNKNOWN
PartitionName=test Nodes=$HOST Default=YES MaxTime=INFINITE State=UP
CONFIG
echo "Name=gpu File=/dev/null" >"$GRES" # SLURM counts the file, and looks no further

# A key, socket and user of this cluster's own, beside any munge that the machine may have.
mkdir -p "$MUNGE"
dd if=/dev/urandom of="$MUNGE/key" bs=128 count=1 status=none
chmod 400 "$MUNGE/key"
chown -R munge "$MUNGE"
runuser -u munge -- munged --key-file="$MUNGE/key" --socket="$MUNGE/socket" \
    --pid-file="$MUNGE/munged.pid" --log-file="$MUNGE/munged.log" --seed-file="$MUNGE/seed"
slurmctld
slurmd -N "$HOST"

for _ in $(seq 60); do
    if sinfo --noheader --format=%t 2>/dev/null | grep -qx idle; then
        echo "SLURM $(sinfo --version | cut -d' ' -f2), one node"
        "$@"
        exit
    fi
    sleep 0.5
done
tail -n 20 "$STATE"/*.log "$MUNGE/munged.log" >&2
echo "SLURM's node did not come up" >&2
exit 1
