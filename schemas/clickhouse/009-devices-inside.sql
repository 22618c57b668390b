-- The places that each device is inside after its last location. If several users used a device, the last one counts.
CREATE OR REPLACE VIEW devices_inside AS
SELECT
    place.1 AS kind,
    if(kind = 'geofence', place.2, '') AS geofence,
    if(kind = 'beacon', place.2, '') AS beacon,
    tag,
    external_id,
    user,
    user_id,
    device_id,
    updated_at
FROM
(
    SELECT
        user,
        user_id,
        device_id,
        updated_at,
        arrayJoin(arrayConcat(
            arrayMap(id -> ('geofence', id), geofences),
            arrayMap(id -> ('beacon', id), beacons)
        )) AS place
    FROM
    (
        SELECT user, user_id, device_id, updated_at, geofences, beacons
        FROM users FINAL
        WHERE project = {project:String} AND environment = {environment:String}
        ORDER BY updated_at DESC, actual_updated_at DESC, user DESC
        LIMIT 1 BY device_id
    )
    WHERE updated_at >= {from:DateTime64(3, 'UTC')} AND updated_at < {to:DateTime64(3, 'UTC')}
) AS devices
LEFT JOIN
(
    -- Table users holds only the ids of places.
    SELECT
        if(beacon = '', ('geofence', geofence), ('beacon', beacon)) AS place,
        argMax(events.tag, created_at) AS tag,
        argMax(events.external_id, created_at) AS external_id
    FROM events
    WHERE project = {project:String}
        AND environment = {environment:String}
        AND created_at >= {from:DateTime64(3, 'UTC')} - INTERVAL 92 DAY
        AND type IN ('user.entered_geofence', 'user.entered_beacon')
    GROUP BY place
) AS places USING (place)
COMMENT 'Devices and their places, by last location from `from` to before `to` (UTC). tag, external_id: of the last entry.
 Parameters: project, environment, from, to (UTC)'
