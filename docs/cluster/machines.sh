#!/usr/bin/env bash
# Starts Ray on plain machines over ssh: ./machines.sh HEAD WORKER... ; stops it with: ./machines.sh --stop HEAD WORKER...
# Each machine has the same environment (ENVIRONMENT, with phrasebeam[ray]) under the same path.
set -euo pipefail

ENVIRONMENT=${ENVIRONMENT:-$HOME/phrasebeam/.venv}
PORT=${PORT:-6379}
stopping=no
if [ "${1:-}" = --stop ]; then
    stopping=yes
    shift
fi
if [ $# -lt 1 ]; then
    echo "usage: $0 [--stop] HEAD [WORKER...]" >&2
    exit 2
fi
head=$1
shift

if [ "$stopping" = yes ]; then
    for machine in "$@" "$head"; do
        ssh "$machine" "$ENVIRONMENT/bin/ray" stop
    done
    exit 0
fi

# The token by which machines and commands of a cluster know each other; who has none on the machine is refused.
token=$(ssh "$head" "$ENVIRONMENT/bin/ray" get-auth-token --generate)
for machine in "$@"; do
    ssh "$machine" 'umask 077; mkdir -p ~/.ray; cat > ~/.ray/auth_token' <<<"$token"
done
ssh "$head" "$ENVIRONMENT/bin/ray" start --head --port "$PORT" --dashboard-host 127.0.0.1
for machine in "$@"; do
    ssh "$machine" "$ENVIRONMENT/bin/ray" start --address "$head:$PORT" &
done
wait
echo "on $head: phrasebeam train-ranking ... --engine ray --address auto"
