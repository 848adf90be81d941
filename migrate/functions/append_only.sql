-- The triggers of append-only tables refuse every change and deletion.

CREATE OR REPLACE FUNCTION stoa_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
CREATE OR REPLACE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION stoa_refuse_change();
CREATE OR REPLACE TRIGGER order_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON order_events
  FOR EACH STATEMENT EXECUTE FUNCTION stoa_refuse_change();
CREATE OR REPLACE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION stoa_refuse_change();
CREATE OR REPLACE TRIGGER log_leaves_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log_leaves
  FOR EACH STATEMENT EXECUTE FUNCTION stoa_refuse_change();
CREATE OR REPLACE TRIGGER log_roots_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log_roots
  FOR EACH STATEMENT EXECUTE FUNCTION stoa_refuse_change();
