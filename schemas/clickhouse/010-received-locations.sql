-- Every received location by time of receipt, with its result. Rejected locations are counted by reason.
CREATE OR REPLACE VIEW received_locations AS
SELECT received_at, result, '' AS endpoint, '' AS code, '' AS param, 1 AS count
FROM locations FINAL
WHERE project = {project:String}
    AND environment = {environment:String}
    AND received_at >= {from:DateTime64(3, 'UTC')}
    AND received_at < {to:DateTime64(3, 'UTC')}
UNION ALL
SELECT at AS received_at, 'rejected' AS result, endpoint, code, param, count
FROM rejections FINAL
WHERE project = {project:String}
    AND environment = {environment:String}
    AND at >= {from:DateTime64(3, 'UTC')}
    AND at < {to:DateTime64(3, 'UTC')}
COMMENT 'Locations by time of receipt, from `from` to before `to` (UTC). result: applied, repeat, stale or rejected.
 Parameters: project, environment, from, to (UTC)'
