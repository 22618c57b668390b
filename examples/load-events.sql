-- Loads the files of events-to-files.mjs into PostgreSQL 12 or newer, each event once. Load again as often as you like.
--
--   psql -f examples/load-events.sql
--
-- It runs where the folder "events" is.
CREATE TABLE IF NOT EXISTS events (
  id text PRIMARY KEY,
  type text NOT NULL,
  created_at timestamptz NOT NULL,
  event jsonb NOT NULL
);
CREATE TEMPORARY TABLE lines (line jsonb);
-- These characters never occur in JSON, so a line stays whole.
\copy lines FROM PROGRAM 'cat events/*.ndjson' (FORMAT csv, QUOTE e'\x01', DELIMITER e'\x02')
INSERT INTO events
  SELECT line #>> '{event,_id}', line #>> '{event,type}', (line #>> '{event,createdAt}')::timestamptz, line -> 'event'
  FROM lines
  ON CONFLICT (id) DO NOTHING;
