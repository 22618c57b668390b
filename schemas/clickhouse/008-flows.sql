-- Every exit with the user's next entry of the same kind, at most within_min minutes later. If the user leaves or enters
-- several places at once, each pair is a row. A flow belongs to the time of its exit; the entry may be after the range.
CREATE OR REPLACE VIEW flows AS
SELECT
    kind,
    user,
    user_id,
    device_id,
    place_left.1 AS from_geofence,
    place_left.2 AS from_beacon,
    place_left.3 AS from_tag,
    place_left.4 AS from_external_id,
    left_at,
    place_entered.1 AS to_geofence,
    place_entered.2 AS to_beacon,
    place_entered.3 AS to_tag,
    place_entered.4 AS to_external_id,
    entered_at,
    dateDiff('millisecond', left_at, entered_at) / 60000 AS gap_min
FROM
(
    SELECT
        kind,
        user,
        user_id,
        device_id,
        at AS left_at,
        places_left,
        anyLastIf(places_entered, notEmpty(places_entered)) OVER upcoming AS next_entered,
        anyLastIf(at, notEmpty(places_entered)) OVER upcoming AS entered_at
    FROM
    (
        -- Transitions of one location: exits come before entries.
        SELECT
            if(beacon = '', 'geofence', 'beacon') AS kind,
            user,
            any(events.user_id) AS user_id,
            any(events.device_id) AS device_id,
            created_at AS at,
            actual_created_at AS received_at,
            location_id,
            groupArrayIf((geofence, beacon, tag, external_id), type LIKE 'user.exited%') AS places_left,
            groupArrayIf((geofence, beacon, tag, external_id), type LIKE 'user.entered%') AS places_entered
        FROM events FINAL
        WHERE project = {project:String}
            AND environment = {environment:String}
            AND created_at >= {from:DateTime64(3, 'UTC')}
            AND created_at < {to:DateTime64(3, 'UTC')} + toIntervalMinute({within_min:UInt16}) + toIntervalMillisecond(1)
            AND type IN ('user.entered_geofence', 'user.exited_geofence', 'user.entered_beacon', 'user.exited_beacon')
        GROUP BY kind, user, at, received_at, location_id
    )
    WINDOW upcoming AS (
        PARTITION BY kind, user
        ORDER BY at DESC, received_at DESC, location_id DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
)
ARRAY JOIN places_left AS place_left
ARRAY JOIN next_entered AS place_entered
WHERE left_at < {to:DateTime64(3, 'UTC')} AND entered_at <= left_at + toIntervalMinute({within_min:UInt16})
COMMENT 'Exits from `from` to before `to` (UTC), each with the next entries within within_min minutes.
 Parameters: project, environment, from, to (UTC), within_min'
