-- One row per delivery attempt. An attempt always has the same id and time, so repeats replace each other.
CREATE TABLE IF NOT EXISTS webhook_attempts
(
    project          LowCardinality(String),
    environment      LowCardinality(String),
    webhook          String COMMENT '_id',
    id               String,
    delivery         String COMMENT 'webhook-id of the request, the same on every attempt',
    events           Array(String) COMMENT 'ids of the events in the body',
    attempt          UInt16 COMMENT 'number of the attempt, from 1',
    reason           LowCardinality(String) COMMENT 'event, redelivery or test',
    at               DateTime64(3, 'UTC'),
    duration_ms      Float64,
    url              String,
    result           LowCardinality(String) COMMENT 'delivered, refused, timed_out and so on',
    message          String COMMENT 'the failure, empty if the endpoint responded',
    state            LowCardinality(String) COMMENT 'delivered, retrying or given_up',
    next_attempt_at  Nullable(DateTime64(3, 'UTC')),
    status           Nullable(UInt16) COMMENT 'null: no response',
    response_headers String COMMENT 'JSON object, empty: no response' CODEC(ZSTD(1)),
    response_body    String COMMENT 'the first bytes; bytes that are not UTF-8 are replaced' CODEC(ZSTD(1)),
    request_body     String COMMENT 'as it was sent' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(at)
ORDER BY (project, environment, webhook, at, id)
TTL toDateTime(at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
