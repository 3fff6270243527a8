#!/usr/bin/env bash
#SBATCH --job-name=phrasebeam
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=64G
#SBATCH --time=24:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
# A cluster of Ray for one job of Slurm: sbatch slurm.sh train-ranking --model DIR ... runs that command of phrasebeam.
# Submitted again after its time is over, it goes on behind its last checkpoint.
set -euo pipefail

ENVIRONMENT=${ENVIRONMENT:-$HOME/phrasebeam/.venv}
PORT=${PORT:-6379}
export PATH="$ENVIRONMENT/bin:$PATH"

# Other users of the machines are refused: they have not the token, which all nodes find in the home directory.
export RAY_AUTH_MODE=token
ray get-auth-token --generate >/dev/null

head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
address=$(srun --nodes=1 --ntasks=1 -w "$head" hostname --ip-address | cut -d' ' -f1)

srun --nodes=1 --ntasks=1 --overlap -w "$head" \
    ray start --head --node-ip-address "$address" --port "$PORT" --num-cpus "$SLURM_CPUS_PER_TASK" --block &
for try in $(seq 60); do
    ray status --address "$address:$PORT" >/dev/null 2>&1 && break
    sleep 2
done
if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then
    srun --nodes=$((SLURM_JOB_NUM_NODES - 1)) --ntasks=$((SLURM_JOB_NUM_NODES - 1)) --overlap --exclude="$head" \
        ray start --address "$address:$PORT" --num-cpus "$SLURM_CPUS_PER_TASK" --block &
fi
workers=$((SLURM_JOB_NUM_NODES * SLURM_CPUS_PER_TASK))

phrasebeam "$@" --engine ray --address "$address:$PORT" --workers "$workers"
