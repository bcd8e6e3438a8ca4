# One job is one cluster: a head on its first node, and workers on the others. Strangers on these nodes have no token.
(umask 077; ray get-auth-token --generate >/dev/null); chmod go= ~/.ray ~/.ray/auth_token
export RAY_AUTH_MODE=token
read -r head < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
read -r ip _ < <(srun --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address)
port=$((20000 + SLURM_JOB_ID % 10000))                    # jobs may share a node; below 20000 are Ray's worker ports
here=(--block --disable-usage-stats --temp-dir="/tmp/ray-$SLURM_JOB_ID" --num-cpus="$SLURM_CPUS_PER_TASK")
here+=(--num-gpus="${SLURM_GPUS_ON_NODE:-0}")
srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" \
  ray start --head --node-ip-address="$ip" --port="$port" --dashboard-host=127.0.0.1 --dashboard-port="$((port + 10000))" "${here[@]}" &
until ray status --address="$ip:$port" >/dev/null 2>&1; do sleep 2; done
srun --overlap --nodes=$((SLURM_JOB_NUM_NODES - 1)) --ntasks=$((SLURM_JOB_NUM_NODES - 1)) --exclude="$head" \
  ray start --address="$ip:$port" "${here[@]}" &
on=(--nodelist="$head")
flags+=(--address "$ip:$port")
