-- An operator's top-up under an operation id happens once, whichever agent it names.

-- +goose Up
CREATE UNIQUE INDEX ledger_entries_one_top_up ON ledger_entries (operation_id)
  WHERE kind = 'top_up' AND account_kind = 'issuance' AND operation_id IS NOT NULL;

-- +goose Down
DROP INDEX ledger_entries_one_top_up;
