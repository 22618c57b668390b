-- One row per try to deliver to a webhook; a try always has the same id and time, so repeats replace each other.
CREATE TABLE IF NOT EXISTS webhook_attempts
(
    project          LowCardinality(String),
    environment      LowCardinality(String),
    webhook          String COMMENT '_id',
    id               String,
    delivery         String COMMENT 'webhook-id of the request, the same on every try',
    events           Array(String) COMMENT 'ids of those in the body',
    attempt          UInt16 COMMENT '1 for the first try',
    reason           LowCardinality(String) COMMENT 'event, redelivery or test',
    at               DateTime64(3, 'UTC'),
    duration_ms      Float64,
    url              String,
    result           LowCardinality(String) COMMENT 'delivered, refused, timed_out and so on',
    message          String COMMENT 'what went wrong, empty where there was an answer',
    state            LowCardinality(String) COMMENT 'delivered, retrying or given_up',
    next_attempt_at  Nullable(DateTime64(3, 'UTC')),
    status           Nullable(UInt16) COMMENT 'null: no answer',
    response_headers String COMMENT 'JSON object, empty: no answer' CODEC(ZSTD(1)),
    response_body    String COMMENT 'the first bytes; what is not UTF-8 is replaced' CODEC(ZSTD(1)),
    request_body     String COMMENT 'as it was sent' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(at)
ORDER BY (project, environment, webhook, at, id)
TTL toDateTime(at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
