#!/usr/bin/env bash
# Rehearses the restore of a cluster, on services of another site: Kafka with the copied disks, Redis with the copied
# redis.rdb, and an empty ClickHouse. Loads the tables, checks that the copies fit together, and lets a node catch up
# that sends nothing to anyone.
#
#   deploy/rehearse-restore.sh FOLDER
#
# All variables FENCELINE_… are as of a node on these services. FENCELINE names the program, by default fenceline.
# READY_S is the time limit of the node's start, by default 600 seconds. STALL_S is how long the backlog may stay as
# large as it is, by default 600 seconds.
set -euo pipefail
folder=${1:?name the folder of the backup}
fenceline=${FENCELINE:-fenceline}
port=${FENCELINE_PORT:-8080}
ready_s=${READY_S:-600}
stall_s=${STALL_S:-600}
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

# fail REASON: ends the rehearsal.
fail() {
  echo "the rehearsal failed: $1" >&2
  exit 1
}

# wait_a_moment: waits a second. Fails if the node has ended.
wait_a_moment() {
  kill -0 $node 2> /dev/null || fail "the node ended; its log is above"
  sleep 1
}

# await_ready: waits until the node is ready, for $ready_s seconds at most.
await_ready() {
  local end=$((SECONDS + ready_s))
  until curl --silent --fail --max-time 10 "http://127.0.0.1:$port/health/ready" > /dev/null; do
    [ $SECONDS -lt $end ] || fail "the node is not ready after $ready_s s; its log is above"
    wait_a_moment
  done
}

# await_tables: waits until the node has created the tables, for $ready_s seconds at most. It is ready before that.
await_tables() {
  local end=$((SECONDS + ready_s))
  # The node records all of them after the last one. Until then the query fails.
  until [ "$(ask "$url/?database=$database&query=SELECT%20count()%20%3E%200%20FROM%20schema_migrations" 2> /dev/null)" = 1 ]; do
    [ $SECONDS -lt $end ] || fail "the node has not created its tables after $ready_s s; its log is above"
    wait_a_moment
  done
}

# backlog: prints how many accepted locations are not evaluated, or nothing while the node does not say it.
backlog() {
  curl --silent --fail --max-time 10 "http://127.0.0.1:$port/metrics" |
    sed -n 's/^fenceline_location_backlog_records //p' || true
}

# await_evaluated: waits until every location is evaluated. Fails when the backlog has not shrunk for $stall_s seconds.
await_evaluated() {
  local now least='' end=$((SECONDS + stall_s))
  until now=$(backlog) && [ "$now" = 0 ]; do
    if [ -n "$now" ] && { [ -z "$least" ] || [ "${now%.*}" -lt "$least" ]; }; then
      least=${now%.*}
      end=$((SECONDS + stall_s))
    fi
    [ $SECONDS -lt $end ] ||
      fail "the backlog of ${least:-unknown} locations has not shrunk for $stall_s s; the node's log is above"
    wait_a_moment
  done
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
await_ready
await_tables

# Rows that the node writes meanwhile replace equal ones.
for file in "$folder"/clickhouse/*.native; do
  table=$(basename "$file" .native)
  [ -s "$file" ] || continue
  # Streams the file, which --data-binary would read into memory.
  ask "$url/?database=$database&query=INSERT%20INTO%20%60$table%60%20FORMAT%20Native" \
    --request POST --upload-file - < "$file"
  echo "restored table $table"
done

await_evaluated
echo "the restored cluster has evaluated every location of its log"
