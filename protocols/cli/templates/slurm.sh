#!/bin/bash
#SBATCH --job-name=NAME
#SBATCH --nodes=NODES
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=CPUS
#SBATCH --time=TIME
#SBATCH --signal=B:TERM@GRACE
#SBATCH --requeue
#SBATCH --open-mode=append
# Written by seqsearch slurm. Submit it from a folder that all nodes see: sbatch FILE. Five minutes before its time is up, the job
# stops at the next result and goes back into the queue, until the run is finished.
set -euo pipefail
ENVIRONMENT
command=(COMMAND)
run=RUN
flags=(--quiet)

CLUSTER
search=
stopped=
trap 'stopped=yes; [ -z "$search" ] || kill -TERM "$search"' TERM
if [ -e "$run/config.json" ]; then
  srun --overlap --nodes=1 --ntasks=1 "${on[@]}" seqsearch "${command[0]}" --resume "$run" "${flags[@]}" "${again[@]}" &
else
  srun --overlap --nodes=1 --ntasks=1 "${on[@]}" seqsearch "${command[@]}" "${flags[@]}" &
fi
search=$!
status=0
wait "$search" || status=$?
if [ -n "$stopped" ]; then
  status=0
  wait "$search" || status=$?                             # the first wait ended with the signal
  if [ "$status" -ne 0 ]; then
    scontrol requeue "$SLURM_JOB_ID"
    exit 0
  fi
fi
exit "$status"
