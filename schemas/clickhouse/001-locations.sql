-- One row per accepted location, with its effects. Rows with the same key replace each other: some are written again
-- after a crash.
CREATE TABLE IF NOT EXISTS locations
(
    project      LowCardinality(String),
    environment  LowCardinality(String),
    id           String,
    device_id    String,
    user         String COMMENT '_id of the user record',
    user_id      String COMMENT 'empty for anonymous users',
    occurred_at  DateTime64(3, 'UTC'),
    received_at  DateTime64(3, 'UTC'),
    latitude     Float64,
    longitude    Float64,
    accuracy_m   Float64,
    foreground   Bool,
    stopped      Bool,
    replayed     Bool,
    source       LowCardinality(String),
    ip           String,
    result       LowCardinality(String) COMMENT 'applied, repeat or stale',
    geofences    Array(String) COMMENT 'ids of the geofences the user was inside afterwards',
    events       Array(String) COMMENT 'ids of the events it caused'
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (project, environment, device_id, occurred_at, id)
TTL toDateTime(received_at) + INTERVAL 7 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
