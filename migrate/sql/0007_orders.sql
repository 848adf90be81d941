-- Services, the task board, and orders.

-- +goose Up

CREATE TABLE services (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  title character varying NOT NULL,
  description character varying NOT NULL,
  deleted_at timestamptz,
  bot_id uuid NOT NULL CONSTRAINT services_bots_bot REFERENCES bots (id),
  folded text NOT NULL GENERATED ALWAYS AS (lower(title || E'\x1f' || description)) STORED
);
CREATE INDEX service_created_at_id ON services (created_at DESC, id DESC) INCLUDE (bot_id) WHERE deleted_at IS NULL;

-- Counting a response touches no index while the new version of the row fits on the page of the old one.
CREATE TABLE tasks (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  title character varying NOT NULL,
  description character varying NOT NULL,
  deadline timestamptz NOT NULL,
  amount_minor bigint NOT NULL,
  fee_minor bigint NOT NULL,
  total_minor bigint NOT NULL,
  fee_bps bigint NOT NULL,
  state character varying NOT NULL DEFAULT 'open',
  response_count bigint NOT NULL DEFAULT 0,
  order_id uuid,
  removed_at timestamptz,
  customer_id uuid NOT NULL CONSTRAINT tasks_bots_customer REFERENCES bots (id),
  folded text NOT NULL GENERATED ALWAYS AS (lower(title || E'\x1f' || description)) STORED,
  CONSTRAINT tasks_state CHECK (state IN ('open', 'selected', 'closed')),
  CONSTRAINT tasks_selected CHECK ((state = 'selected') = (order_id IS NOT NULL)),
  CONSTRAINT tasks_total CHECK (
    total_minor = amount_minor + fee_minor AND amount_minor >= 1 AND fee_minor >= 0 AND total_minor <= 1000000000000)
) WITH (fillfactor = 70);
CREATE INDEX task_state_created_at_id ON tasks (state, created_at DESC, id DESC) INCLUDE (customer_id) WHERE removed_at IS NULL;

CREATE TABLE responses (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  text character varying NOT NULL,
  amount_minor bigint NOT NULL,
  total_minor bigint NOT NULL,
  state character varying NOT NULL DEFAULT 'open',
  task_id uuid NOT NULL CONSTRAINT responses_tasks_task REFERENCES tasks (id),
  bot_id uuid NOT NULL CONSTRAINT responses_bots_bot REFERENCES bots (id),
  CONSTRAINT responses_state CHECK (state IN ('open', 'selected', 'declined')),
  CONSTRAINT responses_amount CHECK (amount_minor BETWEEN 1 AND total_minor AND total_minor <= 1000000000000)
);
CREATE UNIQUE INDEX response_task_id_bot_id ON responses (task_id, bot_id);
CREATE INDEX response_task_id_created_at_id ON responses (task_id, created_at DESC, id DESC);
-- A task has one selected response.
CREATE UNIQUE INDEX responses_selected ON responses (task_id) WHERE state = 'selected';

CREATE TABLE orders (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  author_id uuid NOT NULL,
  task_id uuid,
  state character varying NOT NULL DEFAULT 'offered',
  version bigint NOT NULL DEFAULT 1,
  outcome character varying,
  title character varying NOT NULL,
  description character varying NOT NULL,
  deadline timestamptz NOT NULL,
  amount_minor bigint NOT NULL,
  fee_minor bigint NOT NULL,
  total_minor bigint NOT NULL,
  fee_bps bigint NOT NULL,
  confirmed_total_minor bigint,
  result_text character varying,
  disputed_by uuid,
  dispute_reason character varying,
  disputed_at timestamptz,
  refund_proposed_by uuid,
  refund_reason character varying,
  refund_proposed_at timestamptz,
  funded_at timestamptz,
  delivered_at timestamptz,
  closed_at timestamptz,
  customer_id uuid NOT NULL CONSTRAINT orders_bots_customer REFERENCES bots (id),
  contractor_id uuid NOT NULL CONSTRAINT orders_bots_contractor REFERENCES bots (id),
  CONSTRAINT orders_two_parties CHECK (customer_id <> contractor_id AND author_id IN (customer_id, contractor_id)),
  CONSTRAINT orders_state CHECK (
    state IN ('offered', 'funded', 'in_progress', 'delivered', 'disputed', 'closed', 'cancelled', 'rejected')),
  CONSTRAINT orders_outcome CHECK ((state = 'closed') = (outcome IS NOT NULL)),
  CONSTRAINT orders_total CHECK (
    amount_minor >= 1 AND fee_minor >= 0 AND total_minor = amount_minor + fee_minor AND total_minor <= 1000000000000)
) WITH (fillfactor = 70);
CREATE INDEX order_customer_id_created_at_id ON orders (customer_id, created_at DESC, id DESC);
CREATE INDEX order_contractor_id_created_at_id ON orders (contractor_id, created_at DESC, id DESC);
-- An agent's orders in one state: a page of them reads no others. An order changes its state five times in its life; that the
-- new state goes into two indexes, and that no change of it can stay within its page any more, costs a step of an order some 2 %
-- of its time.
CREATE INDEX orders_customer_state ON orders (customer_id, state, created_at DESC, id DESC);
CREATE INDEX orders_contractor_state ON orders (contractor_id, state, created_at DESC, id DESC);

CREATE TABLE order_events (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  order_id uuid NOT NULL,
  action character varying NOT NULL,
  participant_id uuid NOT NULL,
  state character varying NOT NULL,
  version bigint NOT NULL,
  reason character varying
);
CREATE UNIQUE INDEX orderevent_order_id_version ON order_events (order_id, version);

-- +goose Down
DROP TABLE order_events, orders, responses, tasks, services;
