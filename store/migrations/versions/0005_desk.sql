-- The service desk of a tenant: its document of hours, targets and skills, what its staff can do, how urgent what waits
-- is, and who is about to take it.
-- It runs in one transaction while nothing is served; what it constrains and indexes is small.
-- squawk-ignore-file require-concurrent-index-creation, constraint-missing-not-valid
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '5min';

-- The last version counts; the versions before it say what counted when. Who writes names the version that they have
-- seen plus one, so that of two who change the same version one is refused.
CREATE TABLE desks (
    tenant_id text NOT NULL REFERENCES tenants (id),
    version   integer NOT NULL CHECK (version >= 1),
    document  jsonb NOT NULL CHECK (jsonb_typeof(document) = 'object'),
    set_by    text NOT NULL,                            -- kind:id
    set_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, version)
);

ALTER TABLE staff ADD COLUMN skills text[] NOT NULL DEFAULT '{}';
ALTER TABLE staff ADD COLUMN languages text[] NOT NULL DEFAULT '{}';  -- of customers that they can answer; none: any

-- ---------------------------------------------------------------- what waits, the most urgent first
ALTER TABLE handoffs ADD COLUMN urgency integer NOT NULL DEFAULT 2;   -- 0 urgent, 1 high, 2 normal, 3 low
ALTER TABLE handoffs ADD COLUMN urgency_why text NOT NULL DEFAULT 'default';
ALTER TABLE handoffs ADD COLUMN skill text;                           -- what it takes, by the goal
ALTER TABLE handoffs ADD COLUMN first_reply_at timestamptz;           -- of a person, since it opened
ALTER TABLE handoffs ADD CONSTRAINT handoffs_urgency CHECK (urgency BETWEEN 0 AND 3) NOT VALID;
ALTER TABLE handoffs VALIDATE CONSTRAINT handoffs_urgency;
CREATE INDEX handoffs_by_urgency ON handoffs (tenant_id, urgency, opened_at) WHERE queue_status <> 'done';
-- What was taken and done in the last hours: what estimates rest on.
CREATE INDEX handoffs_taken ON handoffs (tenant_id, claimed_at) WHERE claimed_at IS NOT NULL;
CREATE INDEX handoffs_done ON handoffs (tenant_id, done_at) WHERE done_at IS NOT NULL;

-- The first reply is noted by the log itself, whoever writes it.
CREATE FUNCTION note_first_reply() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE handoffs SET first_reply_at = NEW.at
     WHERE conversation_id = NEW.conversation_id AND queue_status <> 'done' AND first_reply_at IS NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER events_first_reply AFTER INSERT ON events FOR EACH ROW WHEN (NEW.kind = 'staff_reply')
    EXECUTE FUNCTION note_first_reply();

-- Who is about to take a handoff, so that two people do not read themselves into one: one holder at a time, by the key.
CREATE TABLE handoff_claims (
    tenant_id  text NOT NULL,
    handoff_id text PRIMARY KEY,
    staff_id   text NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    until_at   timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, handoff_id) REFERENCES handoffs (tenant_id, id),
    FOREIGN KEY (tenant_id, staff_id) REFERENCES staff (tenant_id, id),
    CHECK (until_at > claimed_at)                       -- a claim ends by itself
);

-- INVARIANT 8: nothing of one tenant is readable by another.
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['desks', 'handoff_claims'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY of_tenant ON %I TO "{app_role}"
            USING (tenant_id = (SELECT current_setting(''interlock.tenant'', true)))
            WITH CHECK (tenant_id = (SELECT current_setting(''interlock.tenant'', true)))', t);
    END LOOP;
END $$;
-- Append-only: a document that counted stays on record.
GRANT SELECT ON desks TO "{app_role}";
GRANT INSERT (tenant_id, version, document, set_by) ON desks TO "{app_role}";
GRANT SELECT, INSERT, DELETE ON handoff_claims TO "{app_role}";
GRANT UPDATE (staff_id, claimed_at, until_at) ON handoff_claims TO "{app_role}";
GRANT UPDATE (skills, languages) ON staff TO "{app_role}";
GRANT UPDATE (first_reply_at) ON handoffs TO "{app_role}";
