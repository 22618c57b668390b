#!/usr/bin/env bash
# Rehearses the restore of a cluster, on services of another site: Kafka with the copied disks, Redis with the copied
# redis.rdb, and an empty ClickHouse. Loads the tables, checks that the copies fit together, and lets a node catch up
# that sends nothing to anyone.
#
#   deploy/rehearse-restore.sh FOLDER
#
# All variables FENCELINE_… are as of a node on these services. FENCELINE names the program, by default fenceline.
set -euo pipefail
folder=${1:?name the folder of the backup}
fenceline=${FENCELINE:-fenceline}
port=${FENCELINE_PORT:-8080}
# shellcheck source-path=SCRIPTDIR source=clickhouse.sh
. "$(dirname "${BASH_SOURCE[0]}")/clickhouse.sh"
export FENCELINE_BACKEND=cluster FENCELINE_HOST=127.0.0.1 FENCELINE_PORT=$port
# The role webhooks sends deliveries. The role api reads the files of nightly syncs, and mails their results.
export FENCELINE_ROLES=ingest,pipeline,analytics
FENCELINE_DATA=$(mktemp -d)
export FENCELINE_DATA
trap 'rm -rf "$FENCELINE_DATA"' EXIT

# step COMMAND...: runs a command, and prints its output. If it fails, the output and the reason are on stderr.
step() {
  local output status=0
  output=$("$@") || status=$?
  if [ $status = 0 ]; then
    echo "$output"
  else
    printf '%s\n%s\n' "$output" "the rehearsal failed: \"$*\" ended with status $status" >&2
    exit $status
  fi
}

# await CONDITION: waits until the condition holds. Fails if the node ends before.
await() {
  until "$1"; do
    kill -0 $node 2> /dev/null || { echo "the rehearsal failed: the node ended; its log is above" >&2; exit 1; }
    sleep 1
  done
}

is_ready() {
  curl --silent --fail "http://127.0.0.1:$port/health/ready" > /dev/null
}

has_evaluated_all() {
  local metrics
  metrics=$(curl --silent --fail "http://127.0.0.1:$port/metrics") || return
  grep -q '^fenceline_location_backlog_records 0$' <<< "$metrics"
}

# shellcheck disable=SC2086 # a program and its arguments
step $fenceline doctor
# Compares every position in Redis with the restored log. Ends with status 1 if one does not fit.
# shellcheck disable=SC2086
step $fenceline repair positions

# Nothing listens on this port. An empty variable would leave the collector of a configuration file.
export FENCELINE_TRACING_ENDPOINT=http://127.0.0.1:9/v1/traces
$fenceline serve &
node=$!
trap 'kill $node 2> /dev/null || true; wait $node || true; rm -rf "$FENCELINE_DATA"' EXIT
await is_ready

# The node has created the tables. Rows that it writes meanwhile replace equal ones.
for file in "$folder"/clickhouse/*.native; do
  table=$(basename "$file" .native)
  [ -s "$file" ] || continue
  # Streams the file, which --data-binary would read into memory.
  ask "$url/?database=$database&query=INSERT%20INTO%20%60$table%60%20FORMAT%20Native" \
    --request POST --upload-file - < "$file"
  echo "restored table $table"
done

await has_evaluated_all
echo "the restored cluster has evaluated every location of its log"
