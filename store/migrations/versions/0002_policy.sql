-- Policy that finance can trust: who published what when, an audit that shows when it was touched, claims on approvals,
-- actions that staff ask for under the same fence, and switches for one kind of action.
-- It runs in one transaction while nothing is served; what it constrains and indexes is small.
-- squawk-ignore-file ban-drop-constraint, constraint-missing-not-valid, require-concurrent-index-creation
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '5min';

-- ---------------------------------------------------------------- who is there
ALTER TABLE staff DROP CONSTRAINT staff_role_check;
ALTER TABLE staff ADD CONSTRAINT staff_role_check
    CHECK (role IN ('agent', 'manager', 'finance', 'trust_and_safety', 'admin')) NOT VALID;
ALTER TABLE staff VALIDATE CONSTRAINT staff_role_check;

-- ---------------------------------------------------------------- bundles and their publication
-- A bundle of a tenant is a layer over a base; a base belongs to nobody and everybody reads it.
ALTER TABLE policy_bundles ADD COLUMN tenant_id text;
ALTER TABLE policy_bundles ADD COLUMN base_digest text;
ALTER TABLE policy_bundles ADD CONSTRAINT policy_bundles_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (id) NOT VALID;
ALTER TABLE policy_bundles VALIDATE CONSTRAINT policy_bundles_tenant;
ALTER TABLE policy_bundles ADD CONSTRAINT policy_bundles_base
    FOREIGN KEY (base_digest) REFERENCES policy_bundles (digest) NOT VALID;
ALTER TABLE policy_bundles VALIDATE CONSTRAINT policy_bundles_base;
ALTER TABLE policy_bundles ADD CONSTRAINT policy_bundles_layer
    CHECK ((tenant_id IS NULL) = (base_digest IS NULL)) NOT VALID;
ALTER TABLE policy_bundles VALIDATE CONSTRAINT policy_bundles_layer;

-- Which bundle counts for a tenant, from when until when. The last publication that is effective wins; a rollback is a
-- publication of what was there before. Rows are never changed.
CREATE TABLE policy_publications (
    tenant_id       text NOT NULL REFERENCES tenants (id),
    n               integer NOT NULL CHECK (n >= 1),
    digest          text NOT NULL REFERENCES policy_bundles (digest),
    cause           text NOT NULL CHECK (cause IN ('seeded', 'published', 'rolled_back', 'rebased')),
    effective_from  timestamptz NOT NULL,
    effective_until timestamptz,
    published_by    text NOT NULL,
    note            text,
    published_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, n),
    CHECK (effective_until IS NULL OR effective_until > effective_from)
);
INSERT INTO policy_publications (tenant_id, n, digest, cause, effective_from, published_by)
    SELECT id, 1, policy_digest, 'seeded', created_at, 'migration:0002' FROM tenants;

CREATE FUNCTION policy_in_force(tenant text, at timestamptz) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT digest FROM policy_publications
     WHERE tenant_id = tenant AND effective_from <= at AND (effective_until IS NULL OR effective_until > at)
     ORDER BY n DESC LIMIT 1
$$;
-- Only the owner of the tables publishes into the past: what was decided until now was decided under another bundle.
CREATE FUNCTION guard_publication() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        NEW.published_at := clock_timestamp();
        NEW.effective_from := greatest(NEW.effective_from, NEW.published_at);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER publications_guard BEFORE INSERT ON policy_publications
    FOR EACH ROW EXECUTE FUNCTION guard_publication();
-- No fact has two homes: the publications say what is in force.
-- squawk-ignore ban-drop-column
ALTER TABLE tenants DROP COLUMN policy_digest;

-- ---------------------------------------------------------------- switches, one for each kind of action
ALTER TABLE tenants ADD COLUMN halted_kinds text[] NOT NULL DEFAULT '{}';

-- ---------------------------------------------------------------- actions that staff ask for: each request answered once
ALTER TABLE ownership_requests DROP CONSTRAINT ownership_requests_act_check;
ALTER TABLE ownership_requests ADD CONSTRAINT ownership_requests_act_check
    CHECK (act IN ('takeover', 'release', 'handoff', 'close', 'proposal')) NOT VALID;
ALTER TABLE ownership_requests VALIDATE CONSTRAINT ownership_requests_act_check;

-- ---------------------------------------------------------------- approvals: words, claims, reminders
ALTER TABLE approvals ADD COLUMN said_seq integer;   -- the seq of the "yes", where consent was given in words
ALTER TABLE approvals ADD COLUMN staff_role text;    -- what a person of the staff was when they decided
ALTER TABLE actions ADD COLUMN asked_at timestamptz;  -- when a person of the staff was newly needed, later than at first
ALTER TABLE actions ADD COLUMN reminded_at timestamptz;
ALTER TABLE actions ADD COLUMN escalated_at timestamptz;

-- Who is looking at an approval right now, so that two people do not decide one item.
CREATE TABLE approval_claims (
    tenant_id    text NOT NULL,
    operation_id text PRIMARY KEY,
    staff_id     text NOT NULL,
    claimed_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    until_at     timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, operation_id) REFERENCES actions (tenant_id, operation_id),
    CHECK (until_at > claimed_at)
);

-- INVARIANT 4: an approval is given and used only for exactly what the action is, under the policy in force, in time, by
-- the customer whose action it is or by somebody of the staff in the role that they have at that moment, and never by who
-- asked for it. A "yes" in words counts only as the very next thing that the customer said after exactly this proposal,
-- made by the bot in its turn: what the ledger asks anew may cross the customer's words on their way.
CREATE OR REPLACE FUNCTION guard_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE moment timestamptz := coalesce(NEW.consumed_at, NEW.decided_at);
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.consumed_at IS NOT NULL OR OLD.voided_at IS NOT NULL) THEN
        RAISE EXCEPTION 'interlock: an approval is used at most once' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.voided_at IS NULL AND NOT EXISTS (
        SELECT FROM actions a
         WHERE a.operation_id = NEW.operation_id AND a.tenant_id = NEW.tenant_id AND a.state = 'awaiting_approval'
           AND (a.payload_digest, a.policy_digest, a.evidence_digest)
             = (NEW.payload_digest, NEW.policy_digest, NEW.evidence_digest)
           AND moment < NEW.expires_at AND moment < a.expires_at
           AND (NEW.decision = 'reject' OR (a.required_approvals ? NEW.role
                AND a.policy_digest = policy_in_force(a.tenant_id, moment)))
           AND CASE WHEN NEW.role = 'customer'
               THEN NEW.approver = 'customer:' || a.customer_id AND NEW.staff_role IS NULL
               ELSE NEW.approver <> a.requested_by AND EXISTS (
                    SELECT FROM staff s WHERE s.tenant_id = NEW.tenant_id AND 'staff:' || s.id = NEW.approver
                       AND s.revoked_at IS NULL AND s.role = NEW.staff_role) END
           AND (NEW.said_seq IS NULL OR (NEW.role = 'customer' AND NEW.decision = 'approve' AND EXISTS (
                SELECT FROM events said
                  JOIN events asked ON asked.conversation_id = said.conversation_id
                                   AND asked.seq = said.seq - 1 AND asked.part = 0
                 WHERE said.conversation_id = a.conversation_id AND said.seq = NEW.said_seq AND said.part = 0
                   AND said.kind = 'customer_message' AND said.actor = NEW.approver AND asked.kind = 'proposal'
                   AND asked.actor = 'bot:interlock'
                   AND asked.body ->> 'operation_id' = a.operation_id
                   AND asked.body ->> 'payload_digest' = a.payload_digest)))) THEN
        RAISE EXCEPTION 'interlock: this approval does not fit the action' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Money that was or may have been moved, by customer and by tenant over a window; what is not settled always counts.
CREATE INDEX actions_of_money ON actions (tenant_id, coalesce(settled_at, 'infinity'::timestamptz))
    WHERE amount_minor IS NOT NULL AND state IN ('submitted', 'unknown', 'confirmed');

-- ---------------------------------------------------------------- INVARIANT 3, for actions that staff ask for
-- Only who owns the conversation speaks in it; a proposal speaks for whoever has asked for its action.
CREATE OR REPLACE FUNCTION number_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE speaks_for text := CASE NEW.kind WHEN 'bot_reply' THEN 'bot' WHEN 'staff_reply' THEN 'human' END;
BEGIN
    IF NEW.kind = 'proposal' THEN
        speaks_for := CASE WHEN EXISTS (
            SELECT FROM actions WHERE operation_id = NEW.body ->> 'operation_id' AND tenant_id = NEW.tenant_id
               AND requested_by LIKE 'staff:%') THEN 'human' ELSE 'bot' END;
    END IF;
    IF NEW.part > 0 THEN
        SELECT version INTO NEW.seq FROM conversations WHERE id = NEW.conversation_id AND tenant_id = NEW.tenant_id;
        RETURN NEW;
    END IF;
    UPDATE conversations
       SET version = version + 1,
           customer_seq = CASE WHEN NEW.kind = 'customer_message' THEN version + 1 ELSE customer_seq END,
           updated_at = greatest(updated_at, NEW.at)
     WHERE id = NEW.conversation_id AND tenant_id = NEW.tenant_id
       AND (speaks_for IS NULL OR owner = speaks_for)
    RETURNING version INTO NEW.seq;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'interlock: no such conversation, or not one to speak in' USING ERRCODE = 'check_violation';
    END IF;
    PERFORM pg_notify('interlock_events', NEW.tenant_id || ' ' || NEW.conversation_id || ' ' || NEW.seq);
    RETURN NEW;
END $$;

-- It becomes submitted only while who asked for it owns the conversation (the bot, or a person), at the proposal's epoch.
CREATE OR REPLACE FUNCTION move_action() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.to_state = 'submitted' AND NOT EXISTS (
        SELECT FROM actions a JOIN conversations c ON c.id = a.conversation_id
         WHERE a.operation_id = NEW.operation_id AND c.owner_epoch = a.owner_epoch
           AND c.owner = CASE WHEN a.requested_by LIKE 'staff:%' THEN 'human' ELSE 'bot' END) THEN
        RAISE EXCEPTION 'interlock: the epoch of this action has passed' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.from_state = '' THEN
        SELECT 1 INTO NEW.n FROM actions
         WHERE operation_id = NEW.operation_id AND state = NEW.to_state AND moves = 0;
        UPDATE actions SET moves = 1 WHERE operation_id = NEW.operation_id AND moves = 0;
    ELSE
        UPDATE actions
           SET state = NEW.to_state, cause = NEW.cause, moves = moves + 1,
               settled_at = CASE WHEN NEW.to_state IN ('confirmed', 'rejected') THEN NEW.at ELSE settled_at END
         WHERE operation_id = NEW.operation_id AND tenant_id = NEW.tenant_id AND state = NEW.from_state
        RETURNING moves INTO NEW.n;
    END IF;
    IF NOT FOUND OR NEW.n IS NULL THEN
        RAISE EXCEPTION 'interlock: action is not %', NEW.from_state USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- ---------------------------------------------------------------- the audit: append-only, chained per tenant
CREATE TABLE audit_heads (
    tenant_id text PRIMARY KEY REFERENCES tenants (id),
    n         bigint NOT NULL,
    hash      text NOT NULL
);
CREATE TABLE audit (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id       text NOT NULL REFERENCES tenants (id),
    n               bigint,                             -- 1, 2, 3 … per tenant, in the order of commit
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind            text NOT NULL CHECK (kind IN ('verdict', 'move', 'approval', 'publication', 'switch', 'staff')),
    actor           text NOT NULL,
    conversation_id text,
    operation_id    text,
    body            text NOT NULL,                      -- JSON, hashed as it is written
    hash            text,
    UNIQUE (tenant_id, n),
    -- The lines that are hashed are told apart by their ends.
    CHECK (strpos(kind || actor || coalesce(conversation_id, '') || coalesce(operation_id, ''), chr(10)) = 0)
);
CREATE INDEX audit_of_kind ON audit (tenant_id, kind, n);
CREATE INDEX audit_of_operation ON audit (operation_id, n) WHERE operation_id IS NOT NULL;

-- Every tenant has its head from the beginning: one made by the first row would lock the tenant when that row commits,
-- which whoever publishes has locked.
INSERT INTO audit_heads SELECT id, 0, repeat('0', 64) FROM tenants;
CREATE FUNCTION begin_audit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO audit_heads VALUES (NEW.id, 0, repeat('0', 64));
    RETURN NULL;
END $$;
CREATE TRIGGER tenants_audited AFTER INSERT ON tenants FOR EACH ROW EXECUTE FUNCTION begin_audit();

-- Chained when the transaction commits, so that the head is the last lock that any transaction takes, and is held only
-- while it commits. hash = SHA-256 over the lines: hash before, tenant, n, at (UTC, microseconds), kind, actor,
-- conversation, operation, body.
CREATE FUNCTION chain_audit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    head audit_heads%ROWTYPE;
    mine text;
BEGIN
    SELECT * INTO STRICT head FROM audit_heads WHERE tenant_id = NEW.tenant_id FOR UPDATE;
    mine := encode(sha256(convert_to(concat_ws(chr(10), head.hash, NEW.tenant_id, (head.n + 1)::text,
        to_char(NEW.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), NEW.kind, NEW.actor,
        coalesce(NEW.conversation_id, ''), coalesce(NEW.operation_id, ''), NEW.body), 'UTF8')), 'hex');
    UPDATE audit SET n = head.n + 1, hash = mine WHERE id = NEW.id;
    UPDATE audit_heads SET n = head.n + 1, hash = mine WHERE tenant_id = NEW.tenant_id;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER audit_chained AFTER INSERT ON audit
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION chain_audit();

-- What happened is audited by the database itself, so that no code path can forget it.
CREATE FUNCTION audit_move() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO audit (tenant_id, kind, actor, conversation_id, operation_id, body)
    SELECT NEW.tenant_id, 'move', NEW.actor, a.conversation_id, NEW.operation_id,
           jsonb_build_object('from', NEW.from_state, 'to', NEW.to_state, 'cause', NEW.cause, 'kind', a.kind,
               'resource', a.resource, 'amount_minor', a.amount_minor, 'currency', a.currency,
               'payload_digest', a.payload_digest, 'policy_digest', a.policy_digest,
               'evidence_digest', a.evidence_digest, 'requested_by', a.requested_by, 'external_id', a.external_id)::text
      FROM actions a WHERE a.operation_id = NEW.operation_id;
    RETURN NULL;
END $$;
CREATE TRIGGER transitions_audit AFTER INSERT ON transitions FOR EACH ROW EXECUTE FUNCTION audit_move();

CREATE FUNCTION audit_approval() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO audit (tenant_id, kind, actor, conversation_id, operation_id, body)
    SELECT NEW.tenant_id, 'approval', NEW.approver, a.conversation_id, NEW.operation_id,
           jsonb_build_object(
               'what', CASE WHEN TG_OP = 'INSERT' THEN 'given'
                            WHEN NEW.consumed_at IS NOT NULL THEN 'consumed' ELSE 'voided' END,
               'role', NEW.role, 'staff_role', NEW.staff_role, 'decision', NEW.decision,
               'payload_digest', NEW.payload_digest,
               'policy_digest', NEW.policy_digest, 'evidence_digest', NEW.evidence_digest,
               'expires_at', NEW.expires_at, 'said_seq', NEW.said_seq)::text
      FROM actions a WHERE a.operation_id = NEW.operation_id;
    RETURN NULL;
END $$;
CREATE TRIGGER approvals_audit AFTER INSERT OR UPDATE ON approvals FOR EACH ROW EXECUTE FUNCTION audit_approval();

CREATE FUNCTION audit_publication() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO audit (tenant_id, kind, actor, body)
    VALUES (NEW.tenant_id, 'publication', NEW.published_by, (to_jsonb(NEW) - 'tenant_id')::text);
    RETURN NULL;
END $$;
CREATE TRIGGER publications_audit AFTER INSERT ON policy_publications
    FOR EACH ROW EXECUTE FUNCTION audit_publication();

-- Who turns a switch is said in `interlock.actor`; what is turned without saying so is still on record.
CREATE FUNCTION audit_actor() RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(nullif(current_setting('interlock.actor', true), ''), 'database:' || session_user)
$$;
CREATE FUNCTION audit_switch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO audit (tenant_id, kind, actor, body)
    VALUES (NEW.id, 'switch', audit_actor(), jsonb_build_object(
        'dispatch_halted', jsonb_build_array(OLD.dispatch_halted, NEW.dispatch_halted),
        'halted_kinds', jsonb_build_array(to_jsonb(OLD.halted_kinds), to_jsonb(NEW.halted_kinds)),
        'stage', jsonb_build_array(OLD.stage, NEW.stage),
        'why', nullif(current_setting('interlock.why', true), ''))::text);
    RETURN NULL;
END $$;
CREATE TRIGGER tenants_audit AFTER UPDATE ON tenants FOR EACH ROW
    WHEN ((OLD.dispatch_halted, OLD.halted_kinds, OLD.stage) IS DISTINCT FROM
          (NEW.dispatch_halted, NEW.halted_kinds, NEW.stage))
    EXECUTE FUNCTION audit_switch();

CREATE FUNCTION audit_staff() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO audit (tenant_id, kind, actor, body)
    VALUES (NEW.tenant_id, 'staff', audit_actor(),
            jsonb_build_object('id', NEW.id, 'role', NEW.role, 'revoked_at', NEW.revoked_at)::text);
    RETURN NULL;
END $$;
CREATE TRIGGER staff_audit AFTER INSERT OR UPDATE ON staff FOR EACH ROW EXECUTE FUNCTION audit_staff();

-- ---------------------------------------------------------------- INVARIANT 8: nothing of one tenant is readable by another
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['policy_publications', 'approval_claims', 'audit', 'audit_heads'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY of_tenant ON %I TO "{app_role}"
            USING (tenant_id = (SELECT current_setting(''interlock.tenant'', true)))
            WITH CHECK (tenant_id = (SELECT current_setting(''interlock.tenant'', true)))', t);
    END LOOP;
END $$;
-- What happened is written by the triggers, as the owner; the product's own role adds verdicts, and nothing else.
CREATE POLICY verdicts_alone ON audit AS RESTRICTIVE FOR INSERT TO "{app_role}" WITH CHECK (kind = 'verdict');
ALTER TABLE policy_bundles ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON policy_bundles TO "{app_role}"
    USING (tenant_id IS NULL OR tenant_id = (SELECT current_setting('interlock.tenant', true)))
    WITH CHECK (tenant_id = (SELECT current_setting('interlock.tenant', true)));

GRANT SELECT ON policy_publications, approval_claims, audit, audit_heads TO "{app_role}";
GRANT INSERT (digest, bundle_id, version, manifest, files, tenant_id, base_digest) ON policy_bundles TO "{app_role}";
GRANT INSERT (tenant_id, n, digest, cause, effective_from, effective_until, published_by, note)
    ON policy_publications TO "{app_role}";
GRANT INSERT (tenant_id, kind, actor, conversation_id, operation_id, body) ON audit TO "{app_role}";
GRANT INSERT, UPDATE, DELETE ON approval_claims TO "{app_role}";
GRANT INSERT (said_seq, staff_role) ON approvals TO "{app_role}";
GRANT UPDATE (asked_at, reminded_at, escalated_at) ON actions TO "{app_role}";
GRANT UPDATE (halted_kinds) ON tenants TO "{app_role}";
GRANT INSERT (tenant_id, id, name, role) ON staff TO "{app_role}";
GRANT EXECUTE ON FUNCTION policy_in_force(text, timestamptz) TO "{app_role}", "{relay_role}";
