-- What the dashboard's numbers are told apart by.
-- It runs in one transaction while nothing is served; what it constrains and indexes is small.
-- squawk-ignore-file require-concurrent-index-creation
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '5min';

-- The stage of its tenant when a conversation began: later stages say nothing about it.
ALTER TABLE conversations ADD COLUMN stage text;
UPDATE conversations c SET stage = (SELECT t.stage FROM tenants t WHERE t.id = c.tenant_id);
CREATE FUNCTION note_stage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.stage := (SELECT stage FROM tenants WHERE id = NEW.tenant_id);
    RETURN NEW;
END $$;
CREATE TRIGGER conversations_stage BEFORE INSERT ON conversations FOR EACH ROW EXECUTE FUNCTION note_stage();
CREATE INDEX conversations_begun ON conversations (tenant_id, created_at);
