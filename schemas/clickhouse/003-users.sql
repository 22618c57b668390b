-- One row per user record. The newest row replaces the others.
CREATE TABLE IF NOT EXISTS users
(
    project           LowCardinality(String),
    environment       LowCardinality(String),
    user              String COMMENT '_id of the user record',
    device_id         String,
    user_id           String,
    created_at        DateTime64(3, 'UTC'),
    updated_at        DateTime64(3, 'UTC') COMMENT 'device time of the last location',
    actual_updated_at DateTime64(3, 'UTC') COMMENT 'when the server received the last location',
    geofences         Array(String),
    beacons           Array(String),
    body              String COMMENT 'UserParts without geofences and beacons, JSON' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(actual_updated_at)
ORDER BY (project, environment, user)
TTL toDateTime(actual_updated_at) + INTERVAL 1 YEAR
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
