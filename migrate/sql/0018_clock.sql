-- The clock is asked by every request. A text that becomes an interval at each call cost a tenth of an admission, so that is left
-- to sessions whose clock is moved; the zero is a constant of the plan.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT now() + coalesce(nullif(current_setting('stoa.clock_shift', true), '')::interval, interval '0')
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT now() + coalesce(nullif(current_setting('stoa.clock_shift', true), ''), '0')::interval
$$;
-- +goose StatementEnd
