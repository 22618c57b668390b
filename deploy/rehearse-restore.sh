#!/usr/bin/env bash
# Rehearses the restore of a cluster, on services of another site: Kafka with the copied disks, Redis with the copied
# redis.rdb, and an empty ClickHouse. Loads the tables, checks that the copies fit together, and lets a node without
# webhooks catch up.
#
#   deploy/rehearse-restore.sh FOLDER
#
# All variables FENCELINE_… are as of a node on these services. FENCELINE names the program, by default fenceline.
set -euo pipefail
folder=${1:?name the folder of the backup}
fenceline=${FENCELINE:-fenceline}
url=${FENCELINE_CLICKHOUSE_URL:-http://127.0.0.1:8123}
database=${FENCELINE_CLICKHOUSE_DATABASE:-fenceline}
port=${FENCELINE_PORT:-8080}
export FENCELINE_BACKEND=cluster FENCELINE_ROLES=ingest,api,pipeline,analytics FENCELINE_PORT=$port
FENCELINE_DATA=$(mktemp -d)
export FENCELINE_DATA

$fenceline doctor
# Compares every position in Redis with the restored log. Ends with status 1 if one does not fit.
$fenceline repair positions

$fenceline serve &
node=$!
trap 'kill $node 2> /dev/null || true; wait $node || true; rm -rf "$FENCELINE_DATA"' EXIT
until curl --silent --fail "http://127.0.0.1:$port/health/ready" > /dev/null; do
  kill -0 $node
  sleep 1
done

# The node has created the tables. Rows that it writes meanwhile replace equal ones.
for file in "$folder"/clickhouse/*.native; do
  table=$(basename "$file" .native)
  [ -s "$file" ] || continue
  curl --silent --show-error --fail --data-binary @"$file" \
    "$url/?database=$database&query=INSERT%20INTO%20%60$table%60%20FORMAT%20Native" \
    --header "X-ClickHouse-User: ${FENCELINE_CLICKHOUSE_USERNAME:-default}" \
    --header "X-ClickHouse-Key: ${FENCELINE_CLICKHOUSE_PASSWORD:-}"
  echo "restored table $table"
done

until curl --silent --fail "http://127.0.0.1:$port/metrics" | grep -q '^fenceline_location_backlog_records 0$'; do
  kill -0 $node
  sleep 1
done
echo "the restored cluster has evaluated every location of its log"
