-- Every entry into a geofence or the range of a beacon in a time range, once.
-- SELECT count() FROM entries(project = '…', environment = 'live', from = '2026-03-01', to = '2026-04-01')
CREATE OR REPLACE VIEW entries AS
SELECT
    if(beacon = '', 'geofence', 'beacon') AS kind,
    geofence,
    beacon,
    tag,
    external_id,
    user,
    user_id,
    device_id,
    created_at AS entered_at,
    id
FROM events FINAL
WHERE project = {project:String}
    AND environment = {environment:String}
    AND created_at >= {from:DateTime64(3, 'UTC')}
    AND created_at < {to:DateTime64(3, 'UTC')}
    AND type IN ('user.entered_geofence', 'user.entered_beacon')
COMMENT 'Entries from `from` to before `to`, by device time. Parameters: project, environment, from, to (UTC)'
