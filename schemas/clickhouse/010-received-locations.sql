-- Every location that came, by the time of its receipt, with what became of it; rejected ones are counted by the rule that they broke.
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
COMMENT 'result: applied, repeat, stale or rejected; count: how many locations the row stands for. Parameters: project, environment, from, to (UTC)'
