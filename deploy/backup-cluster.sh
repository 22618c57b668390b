#!/usr/bin/env bash
# Backs up a cluster into an empty folder while it runs: Redis, then ClickHouse, then Kafka. In this order no position in
# Redis is ahead of the copied tables or log, so a restore repeats work and loses nothing. docs/backup.md has the reasons.
#
#   KAFKA_COPY='COMMAND' deploy/backup-cluster.sh FOLDER
#
# The services are those of the variables FENCELINE_CLICKHOUSE_… and FENCELINE_REDIS_…, as of a node. COMMAND copies
# the disks of the brokers, or takes snapshots of them. It is run last. REDIS_OPTIONS are more options of redis-cli, such as
# --user and --tls. It copies one Redis server: copy the other masters of a Redis Cluster in the same place of the order.
set -euo pipefail
folder=${1:?name the folder of the backup}
: "${KAFKA_COPY:?must be the command that copies the disks of the brokers}"
node=${FENCELINE_REDIS_NODES:-127.0.0.1:6379}
# shellcheck source-path=SCRIPTDIR source=clickhouse.sh
. "$(dirname "${BASH_SOURCE[0]}")/clickhouse.sh"

# A backup has locations and secrets, so only its owner may read it.
umask 077
mkdir -p "$folder"
[ -z "$(ls -A "$folder")" ] || { echo "$folder is not empty" >&2; exit 1; }
mkdir "$folder/clickhouse"

[ -z "${FENCELINE_REDIS_PASSWORD:-}" ] || export REDISCLI_AUTH=$FENCELINE_REDIS_PASSWORD
# shellcheck disable=SC2086 # several options
redis-cli -h "${node%%:*}" -p "${node##*:}" ${REDIS_OPTIONS:-} --rdb "$folder/redis.rdb" > /dev/null
echo "Redis: $(wc -c < "$folder/redis.rdb") bytes"

# Views have no rows of their own. With clickhouse.cluster use BACKUP of ClickHouse instead: it knows the replicas.
tables=$(ask "$url/?database=$database" --data-binary \
  "SELECT name FROM system.tables WHERE database = '$database' AND engine NOT LIKE '%View%' FORMAT TSVRaw")
for table in $tables; do
  ask "$url/?database=$database" --data-binary "SELECT * FROM \`$table\` FORMAT Native" \
    > "$folder/clickhouse/$table.native"
  echo "ClickHouse: $table, $(wc -c < "$folder/clickhouse/$table.native") bytes"
done

bash -euc "$KAFKA_COPY"
echo "Kafka: copied"
