-- Every entry with the exit that ended the visit. An exit counts only if it is the user's next transition of the place:
-- after a second entry the end of the first visit is unknown. A visit belongs to the time of its entry; its exit may be
-- after the range.
CREATE OR REPLACE VIEW visits AS
SELECT
    if(beacon = '', 'geofence', 'beacon') AS kind,
    geofence,
    beacon,
    tag,
    external_id,
    user,
    user_id,
    device_id,
    entered_at,
    if(state = 'ended', next_at, NULL) AS exited_at,
    if(state = 'ended', dateDiff('millisecond', entered_at, next_at) / 60000, NULL) AS duration_min,
    multiIf(next_type = '', 'open', next_type LIKE 'user.exited%', 'ended', 'unseen') AS state,
    id
FROM
(
    SELECT
        geofence,
        beacon,
        tag,
        external_id,
        user,
        user_id,
        device_id,
        type,
        created_at AS entered_at,
        id,
        leadInFrame(type) OVER following AS next_type,
        leadInFrame(created_at) OVER following AS next_at
    FROM events FINAL
    WHERE project = {project:String}
        AND environment = {environment:String}
        AND created_at >= {from:DateTime64(3, 'UTC')}
        AND type IN ('user.entered_geofence', 'user.exited_geofence', 'user.entered_beacon', 'user.exited_beacon')
    -- Events of the same millisecond are ordered by receipt: location ids keep that order.
    WINDOW following AS (
        PARTITION BY user, geofence, beacon
        ORDER BY created_at, actual_created_at, location_id
        ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING
    )
)
WHERE entered_at < {to:DateTime64(3, 'UTC')} AND type LIKE 'user.entered%'
COMMENT 'Visits by time of entry, from `from` to before `to` (UTC). state: ended, open (no exit yet), unseen (no exit seen).
 Parameters: project, environment, from, to (UTC)'
