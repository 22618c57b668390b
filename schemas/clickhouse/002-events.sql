-- One row per event. An event always has the same id, time and body, so repeats replace each other.
CREATE TABLE IF NOT EXISTS events
(
    project             LowCardinality(String),
    environment         LowCardinality(String),
    id                  String,
    type                LowCardinality(String),
    created_at          DateTime64(3, 'UTC') COMMENT 'when it happened',
    actual_created_at   DateTime64(3, 'UTC') COMMENT 'when the server received the cause',
    location_id         String,
    device_id           String,
    user                String COMMENT '_id of the user record',
    user_id             String,
    geofence            String COMMENT '_id, empty if the event concerns no geofence',
    beacon              String COMMENT '_id, empty if the event concerns no beacon',
    tag                 String COMMENT 'tag of the geofence or beacon',
    external_id         String COMMENT 'external id of the geofence or beacon',
    confidence          UInt8,
    duration_min        Nullable(Float64),
    latitude            Nullable(Float64),
    longitude           Nullable(Float64),
    accuracy_m          Nullable(Float64),
    currently_operating Nullable(Bool),
    replayed            Bool,
    body                String COMMENT 'the event as the API returns it, JSON' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(actual_created_at)
ORDER BY (project, environment, created_at, id)
TTL toDateTime(actual_created_at) + INTERVAL 1 YEAR
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
