-- name: count_jobs(queues text[], states text[])
-- Counts at most 10,000 jobs of each queue and state, in the index by which River takes its jobs.
SELECT q.queue, s.state, (SELECT count(*) FROM (
  SELECT FROM river_job j WHERE j.state = s.state::river_job_state AND j.queue = q.queue LIMIT 10000) j) AS jobs
FROM unnest(:queues::text[]) AS q (queue) CROSS JOIN unnest(:states::text[]) AS s (state);

-- name: jobs_lag(queues text[])
-- How long the job that should be worked next has been waiting, for each queue.
SELECT q.queue, coalesce(extract(epoch FROM now() - (
  SELECT j.scheduled_at FROM river_job j WHERE j.state = 'available' AND j.queue = q.queue
  ORDER BY j.priority, j.scheduled_at LIMIT 1
)), 0)::float8 AS seconds
FROM unnest(:queues::text[]) AS q (queue);

-- name: grown_tables()
-- Tables that have at least 100 rows, and half as many again as when they were last analyzed.
SELECT format('%I.%I', t.schemaname, t.relname) FROM pg_stat_user_tables t JOIN pg_class c ON c.oid = t.relid
WHERE t.schemaname = current_schema() AND t.n_live_tup >= greatest(100, 1.5 * c.reltuples);

-- name: select_opening()
-- The state of the jobs that the dashboard opens on.
SELECT CASE
  WHEN EXISTS (SELECT FROM river_job j WHERE j.state = 'discarded' AND j.finalized_at >= now() - interval '1 day') THEN 'discarded'
  WHEN EXISTS (SELECT FROM river_job j WHERE j.state = 'retryable') THEN 'retryable'
  ELSE 'available'
END;
