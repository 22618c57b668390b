-- Number of locations that one rule rejected in a short interval. Kept longer than locations, because rows are few.
CREATE TABLE IF NOT EXISTS rejections
(
    project     LowCardinality(String) COMMENT 'empty if unknown',
    environment LowCardinality(String) COMMENT 'empty if unknown',
    id          String,
    at          DateTime64(3, 'UTC'),
    endpoint    LowCardinality(String) COMMENT 'track, replay, bulk; or stage: accepted, but could not be evaluated',
    code        LowCardinality(String) COMMENT 'of the error catalogue; for stage the reason of the dead letter',
    param       LowCardinality(String) COMMENT 'the invalid field, empty if there is none',
    count       UInt32
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(at)
ORDER BY (project, environment, at, id)
TTL toDateTime(at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
