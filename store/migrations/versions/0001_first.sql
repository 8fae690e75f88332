-- The first schema. Every constraint says which invariant of the design (section 11) it holds.
-- The two quoted names in braces are replaced by those of the roles that the product connects as.
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '5min';

-- ---------------------------------------------------------------- who is there
CREATE TABLE policy_bundles (
    digest          text PRIMARY KEY,
    bundle_id       text NOT NULL,
    version         text NOT NULL,
    manifest        jsonb NOT NULL,
    files           jsonb NOT NULL,
    published_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tenants (
    id              text PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    name            text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('marketplace', 'saas')),
    stage           text NOT NULL DEFAULT 'approval_required',
    policy_digest   text NOT NULL REFERENCES policy_bundles (digest),
    dispatch_halted boolean NOT NULL DEFAULT false,   -- the kill switch, locked by every reservation and claim
    created_at      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE staff (
    tenant_id       text NOT NULL REFERENCES tenants (id),
    id              text NOT NULL,
    name            text NOT NULL,
    role            text NOT NULL CHECK (role IN ('agent', 'manager', 'finance', 'admin')),
    revoked_at      timestamptz,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE customers (
    tenant_id       text NOT NULL REFERENCES tenants (id),
    id              text NOT NULL,
    status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'blocked')),
    first_seen_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);

-- ---------------------------------------------------------------- conversations and their log
CREATE TABLE conversations (
    id              text PRIMARY KEY,
    tenant_id       text NOT NULL REFERENCES tenants (id),
    principal_kind  text NOT NULL CHECK (principal_kind IN ('customer', 'anonymous')),
    principal_id    text NOT NULL,
    channel         text NOT NULL DEFAULT 'chat',
    language        text NOT NULL DEFAULT 'en',
    owner           text NOT NULL DEFAULT 'bot' CHECK (owner IN ('bot', 'human', 'closed')),
    owner_epoch     integer NOT NULL DEFAULT 1 CHECK (owner_epoch >= 1),
    holder          text,                               -- the member of staff who has it
    version         integer NOT NULL DEFAULT 0,         -- the last seq; moved by the log alone
    customer_seq    integer NOT NULL DEFAULT 0,         -- the last customer message; moved by the log alone
    answered_seq    integer NOT NULL DEFAULT 0,         -- answered (or dealt with) through this seq
    consumed_seq    integer NOT NULL DEFAULT 0,         -- the workflow has worked through this seq
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, id),
    CHECK (owner = 'human' OR holder IS NULL),
    CHECK (answered_seq <= version AND consumed_seq <= version AND customer_seq <= version)
);
CREATE INDEX conversations_of_principal ON conversations (tenant_id, principal_kind, principal_id, updated_at DESC);
CREATE INDEX conversations_recent ON conversations (tenant_id, updated_at DESC, id);
CREATE INDEX conversations_unanswered ON conversations (updated_at)
    WHERE (owner = 'bot' AND customer_seq > answered_seq) OR version > consumed_seq;

CREATE TABLE events (
    tenant_id         text NOT NULL,
    conversation_id   text NOT NULL,
    seq               integer NOT NULL,
    part              integer NOT NULL DEFAULT 0,       -- 0: the event that everybody sees; 1, 2 ...: what staff see behind it
    event_id          uuid NOT NULL DEFAULT gen_random_uuid(),
    kind              text NOT NULL,
    actor             text NOT NULL,
    at                timestamptz NOT NULL DEFAULT clock_timestamp(),  -- under the row's lock: it rises along the log
    client_message_id text,
    step_id           text,
    body              jsonb NOT NULL,
    PRIMARY KEY (conversation_id, seq, part),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    -- What a customer never sees takes no number of its own, so that the customer's log has no gap.
    CHECK ((part > 0) = (kind IN ('evidence', 'draft', 'verdict', 'understanding', 'summary')))
);
-- INVARIANT 1: a message is in the log once, however often it is sent (per author).
CREATE UNIQUE INDEX events_client_message ON events (conversation_id, client_message_id, kind)
    WHERE client_message_id IS NOT NULL;
-- INVARIANT 1: a step that runs again after a crash finds what it has written, and cannot write it twice.
CREATE UNIQUE INDEX events_step ON events (conversation_id, step_id) WHERE step_id IS NOT NULL;

-- INVARIANT 1: the log numbers its own events under the row's lock: 1, 2, 3, with no gap and no repeat.
-- INVARIANT 3: only who owns the conversation speaks in it.
CREATE FUNCTION number_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE speaks_for text := CASE WHEN NEW.kind IN ('bot_reply', 'proposal') THEN 'bot'
                                WHEN NEW.kind = 'staff_reply' THEN 'human' END;
BEGIN
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
CREATE TRIGGER events_number BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION number_event();

-- INVARIANT 3: the epoch rises by one at every change of owner or holder, and never otherwise falls or jumps.
CREATE FUNCTION guard_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.owner_epoch NOT IN (OLD.owner_epoch, OLD.owner_epoch + 1)
       OR ((NEW.owner, NEW.holder) IS DISTINCT FROM (OLD.owner, OLD.holder) AND NEW.owner_epoch = OLD.owner_epoch) THEN
        RAISE EXCEPTION 'interlock: a change of owner raises the epoch by one' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.answered_seq < OLD.answered_seq OR NEW.consumed_seq < OLD.consumed_seq THEN
        RAISE EXCEPTION 'interlock: answered and consumed never go back' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER conversations_guard BEFORE UPDATE ON conversations FOR EACH ROW EXECUTE FUNCTION guard_owner();

-- First results of requests that change the owner, so that a repeat is answered from them (design section 4).
CREATE TABLE ownership_requests (
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    request_id      text NOT NULL,
    principal       text NOT NULL,
    act             text NOT NULL CHECK (act IN ('takeover', 'release', 'handoff', 'close')),
    result          jsonb NOT NULL,
    at              timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (conversation_id, principal, request_id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);

CREATE TABLE outbox (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    operation_id    text,                               -- set: for the action's workflow; else the conversation's
    event_seq       integer NOT NULL,
    event_id        text NOT NULL,
    owner_epoch     integer NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL DEFAULT now(),
    next_attempt_at timestamptz NOT NULL DEFAULT now() + interval '1 second',
    delivered_at    timestamptz,
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);
CREATE INDEX outbox_waiting ON outbox (next_attempt_at) WHERE delivered_at IS NULL;
CREATE INDEX outbox_of_conversation ON outbox (conversation_id, event_seq) WHERE delivered_at IS NULL;

-- ---------------------------------------------------------------- evidence and the ledger
CREATE TABLE evidence (
    evidence_id     text PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    source          text NOT NULL,
    subject         text NOT NULL,
    value           jsonb NOT NULL,
    observed_at     timestamptz NOT NULL,
    max_age_s       integer NOT NULL CHECK (max_age_s > 0),
    UNIQUE (tenant_id, evidence_id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);
CREATE INDEX evidence_of_conversation ON evidence (conversation_id, observed_at DESC);

CREATE TABLE legal_moves (
    from_state text NOT NULL,
    to_state   text NOT NULL,
    PRIMARY KEY (from_state, to_state)
);
INSERT INTO legal_moves VALUES
    ('', 'proposed'),
    ('proposed', 'awaiting_approval'), ('proposed', 'rejected'),
    ('awaiting_approval', 'submitted'), ('awaiting_approval', 'rejected'),
    ('submitted', 'confirmed'), ('submitted', 'rejected'), ('submitted', 'unknown'),
    ('unknown', 'confirmed'), ('unknown', 'rejected');

CREATE TABLE actions (
    operation_id       text PRIMARY KEY,
    tenant_id          text NOT NULL,
    conversation_id    text NOT NULL,
    customer_id        text NOT NULL,
    kind               text NOT NULL,
    resource           text NOT NULL,
    amount_minor       bigint CHECK (amount_minor > 0),
    currency           text,
    payload            jsonb NOT NULL,
    payload_digest     text NOT NULL,
    state              text NOT NULL DEFAULT 'proposed',
    cause              text NOT NULL DEFAULT 'proposed',
    required_approvals jsonb NOT NULL DEFAULT '[]',
    requested_by       text NOT NULL,
    owner_epoch        integer NOT NULL,
    policy_digest      text NOT NULL,
    evidence_id        text NOT NULL,
    evidence_digest    text NOT NULL,
    language           text NOT NULL DEFAULT 'en',
    created_at         timestamptz NOT NULL DEFAULT now(),
    expires_at         timestamptz NOT NULL,
    reserved_at        timestamptz,
    reserved_step      text,
    sent_at            timestamptz,
    last_sent_at       timestamptz,
    send_count         integer NOT NULL DEFAULT 0,
    settled_at         timestamptz,
    external_id        text,
    moves              integer NOT NULL DEFAULT 0,
    UNIQUE (tenant_id, operation_id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    FOREIGN KEY (tenant_id, evidence_id) REFERENCES evidence (tenant_id, evidence_id),
    CHECK ((amount_minor IS NULL) = (currency IS NULL)),
    -- INVARIANT 2: nothing is sent that was not reserved, and nothing unsent is unknown or confirmed.
    CHECK (send_count = 0 OR reserved_at IS NOT NULL),
    CHECK ((sent_at IS NULL) = (send_count = 0)),
    CHECK (state NOT IN ('unknown', 'confirmed') OR send_count > 0),
    CHECK (state IN ('proposed', 'awaiting_approval', 'submitted', 'confirmed', 'rejected', 'unknown'))
);
-- INVARIANT 5: two actions are never in flight on one resource; unknown is in flight.
CREATE UNIQUE INDEX actions_in_flight ON actions (tenant_id, resource) WHERE state IN ('submitted', 'unknown');
CREATE INDEX actions_of_conversation ON actions (conversation_id, created_at);
CREATE INDEX actions_open ON actions (tenant_id, state, created_at)
    WHERE state IN ('proposed', 'awaiting_approval', 'submitted', 'unknown');
CREATE INDEX actions_of_customer ON actions (tenant_id, customer_id, created_at);
CREATE INDEX actions_settled ON actions (tenant_id, resource, settled_at) WHERE settled_at IS NOT NULL;

-- INVARIANT 7: what was proposed never changes afterwards; only its progress does.
CREATE FUNCTION guard_action() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.operation_id, NEW.conversation_id, NEW.customer_id, NEW.kind, NEW.resource, NEW.amount_minor, NEW.currency,
        NEW.payload, NEW.payload_digest, NEW.owner_epoch, NEW.requested_by)
       IS DISTINCT FROM
       (OLD.operation_id, OLD.conversation_id, OLD.customer_id, OLD.kind, OLD.resource, OLD.amount_minor, OLD.currency,
        OLD.payload, OLD.payload_digest, OLD.owner_epoch, OLD.requested_by) THEN
        RAISE EXCEPTION 'interlock: a proposal is immutable' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.send_count < OLD.send_count THEN
        RAISE EXCEPTION 'interlock: a send is never forgotten' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER actions_guard BEFORE UPDATE ON actions FOR EACH ROW EXECUTE FUNCTION guard_action();

CREATE TABLE transitions (
    tenant_id    text NOT NULL,
    operation_id text NOT NULL,
    n            integer NOT NULL,
    from_state   text NOT NULL,
    to_state     text NOT NULL,
    cause        text NOT NULL,
    actor        text NOT NULL,
    at           timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (operation_id, n),
    FOREIGN KEY (tenant_id, operation_id) REFERENCES actions (tenant_id, operation_id),
    -- INVARIANT 7: legal moves only.
    FOREIGN KEY (from_state, to_state) REFERENCES legal_moves (from_state, to_state)
);
-- A state moves by its transition and by nothing else: the role that the product connects as may not update `state`.
-- INVARIANT 3: and it becomes submitted only while the bot owns the conversation, at the epoch of the proposal.
CREATE FUNCTION move_action() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.to_state = 'submitted' AND NOT EXISTS (
        SELECT FROM actions a JOIN conversations c ON c.id = a.conversation_id
         WHERE a.operation_id = NEW.operation_id AND c.owner = 'bot' AND c.owner_epoch = a.owner_epoch) THEN
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
CREATE TRIGGER transitions_move BEFORE INSERT ON transitions FOR EACH ROW EXECUTE FUNCTION move_action();

CREATE TABLE approvals (
    tenant_id       text NOT NULL,
    operation_id    text NOT NULL,
    approver        text NOT NULL,                      -- kind:id
    role            text NOT NULL CHECK (role IN ('customer', 'manager', 'finance')),
    decision        text NOT NULL CHECK (decision IN ('approve', 'reject')),
    payload_digest  text NOT NULL,
    policy_digest   text NOT NULL,
    evidence_digest text NOT NULL,
    note            text,
    decided_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    voided_at       timestamptz,
    consumed_at     timestamptz,
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    FOREIGN KEY (tenant_id, operation_id) REFERENCES actions (tenant_id, operation_id),
    CHECK (consumed_at IS NULL OR (decision = 'approve' AND voided_at IS NULL))
);
-- INVARIANT 4: one approver decides once, and one role's approval is used once.
CREATE UNIQUE INDEX approvals_of_approver ON approvals (operation_id, approver) WHERE voided_at IS NULL;
CREATE UNIQUE INDEX approvals_of_role ON approvals (operation_id, role)
    WHERE voided_at IS NULL AND decision = 'approve';
-- INVARIANT 4: given and used only for exactly what the action is, before it expires, and never by its own requester.
CREATE FUNCTION guard_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.consumed_at IS NOT NULL OR OLD.voided_at IS NOT NULL) THEN
        RAISE EXCEPTION 'interlock: an approval is used at most once' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.voided_at IS NULL AND NOT EXISTS (
        SELECT FROM actions a
         WHERE a.operation_id = NEW.operation_id AND a.tenant_id = NEW.tenant_id AND a.state = 'awaiting_approval'
           AND (a.payload_digest, a.policy_digest, a.evidence_digest)
             = (NEW.payload_digest, NEW.policy_digest, NEW.evidence_digest)
           AND (a.requested_by <> NEW.approver OR NEW.role = 'customer')
           AND coalesce(NEW.consumed_at, NEW.decided_at) < NEW.expires_at) THEN
        RAISE EXCEPTION 'interlock: this approval does not fit the action' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER approvals_guard BEFORE INSERT OR UPDATE ON approvals FOR EACH ROW EXECUTE FUNCTION guard_approval();

-- ---------------------------------------------------------------- people
CREATE TABLE handoffs (
    id              text PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    request_id      text NOT NULL,
    reason          text NOT NULL,
    note            text,                               -- the words of whoever asked for a person
    goal            text NOT NULL,
    queue_status    text NOT NULL DEFAULT 'waiting' CHECK (queue_status IN ('waiting', 'claimed', 'done')),
    assignee        text,
    through_seq     integer NOT NULL,                   -- open questions: what was unanswered up to here
    open_from_seq   integer NOT NULL,
    evidence_id     text,
    opened_at       timestamptz NOT NULL DEFAULT now(),
    claimed_at      timestamptz,
    done_at         timestamptz,
    UNIQUE (tenant_id, id),
    UNIQUE (conversation_id, request_id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);
-- A conversation has at most one open handoff.
CREATE UNIQUE INDEX handoffs_open ON handoffs (conversation_id) WHERE queue_status <> 'done';
CREATE INDEX handoffs_waiting ON handoffs (tenant_id, queue_status, opened_at) WHERE queue_status <> 'done';

-- INVARIANT 7: an unknown that has reached its deadline has a queue item of its own, which neither release nor close ends.
CREATE TABLE cases (
    id              text PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text,
    operation_id    text,
    kind            text NOT NULL CHECK (kind IN ('unknown_action', 'effect_without_row', 'row_without_effect',
                                                  'other_amount')),
    detail          jsonb NOT NULL,
    queue_status    text NOT NULL DEFAULT 'waiting' CHECK (queue_status IN ('waiting', 'claimed', 'done')),
    assignee        text,
    opened_at       timestamptz NOT NULL DEFAULT now(),
    done_at         timestamptz
);
CREATE UNIQUE INDEX cases_open ON cases (tenant_id, kind, operation_id) WHERE queue_status <> 'done';
CREATE INDEX cases_waiting ON cases (tenant_id, queue_status, opened_at) WHERE queue_status <> 'done';

-- ---------------------------------------------------------------- knowledge, usage, repeated requests
CREATE TABLE articles (
    tenant_id       text NOT NULL REFERENCES tenants (id),
    slug            text NOT NULL,
    version         integer NOT NULL CHECK (version >= 1),
    language        text NOT NULL,
    audience        text NOT NULL DEFAULT 'public' CHECK (audience IN ('public', 'signed_in', 'staff')),
    title           text NOT NULL,
    body            text NOT NULL,
    effective_from  timestamptz NOT NULL DEFAULT now(),
    effective_until timestamptz,
    PRIMARY KEY (tenant_id, slug, language, version),
    CHECK (effective_until IS NULL OR effective_until > effective_from)
);

CREATE TABLE usage (
    tenant_id text NOT NULL REFERENCES tenants (id),
    day       date NOT NULL,
    measure   text NOT NULL,
    amount    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, day, measure)
);

CREATE TABLE idempotency_keys (
    tenant_id      text NOT NULL REFERENCES tenants (id),
    principal      text NOT NULL,
    key            text NOT NULL,
    request_digest text NOT NULL,
    status         integer,
    answer         jsonb,
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, principal, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- ---------------------------------------------------------------- INVARIANT 8: nothing of one tenant is readable by another
-- No tenant set means no rows. The two roles can neither own a table nor bypass a policy.
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['staff', 'customers', 'conversations', 'events', 'ownership_requests', 'outbox', 'evidence',
        'actions', 'transitions', 'approvals', 'handoffs', 'cases', 'articles', 'usage', 'idempotency_keys'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY of_tenant ON %I TO "{app_role}"
            USING (tenant_id = (SELECT current_setting(''interlock.tenant'', true)))
            WITH CHECK (tenant_id = (SELECT current_setting(''interlock.tenant'', true)))', t);
    END LOOP;
    FOREACH t IN ARRAY ARRAY['conversations', 'outbox', 'actions', 'handoffs', 'tenants'] LOOP
        EXECUTE format('CREATE POLICY of_relay ON %I TO "{relay_role}" USING (true) WITH CHECK (true)', t);
    END LOOP;
END $$;
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON tenants TO "{app_role}"
    USING (id = (SELECT current_setting('interlock.tenant', true)))
    WITH CHECK (id = (SELECT current_setting('interlock.tenant', true)));

GRANT USAGE ON SCHEMA public TO "{app_role}", "{relay_role}";
GRANT SELECT ON ALL TABLES IN SCHEMA public TO "{app_role}";
-- Append-only: no UPDATE and no DELETE on events, evidence and transitions.
GRANT INSERT ON customers, events, ownership_requests, outbox, evidence, transitions, handoffs, cases, usage,
    idempotency_keys TO "{app_role}";
-- What progresses begins at its beginning: no row is born answered, submitted, voided or consumed.
GRANT INSERT (id, tenant_id, principal_kind, principal_id, channel, language, created_at) ON conversations TO "{app_role}";
GRANT INSERT (operation_id, tenant_id, conversation_id, customer_id, kind, resource, amount_minor, currency, payload,
    payload_digest, required_approvals, requested_by, owner_epoch, policy_digest, evidence_id, evidence_digest, language,
    created_at, expires_at) ON actions TO "{app_role}";
GRANT INSERT (tenant_id, operation_id, approver, role, decision, payload_digest, policy_digest, evidence_digest, note,
    decided_at, expires_at) ON approvals TO "{app_role}";
GRANT UPDATE (dispatch_halted, stage, policy_digest) ON tenants TO "{app_role}";
GRANT UPDATE (revoked_at, role, name) ON staff TO "{app_role}";
GRANT UPDATE (status) ON customers TO "{app_role}";
GRANT UPDATE (owner, owner_epoch, holder, answered_seq, consumed_seq, language) ON conversations TO "{app_role}";
GRANT UPDATE (delivered_at) ON outbox TO "{app_role}";
GRANT UPDATE (required_approvals, policy_digest, evidence_id, evidence_digest, expires_at, reserved_at, reserved_step,
    sent_at, last_sent_at, send_count, external_id) ON actions TO "{app_role}";
GRANT UPDATE (voided_at, consumed_at) ON approvals TO "{app_role}";
GRANT UPDATE (queue_status, assignee, claimed_at, done_at) ON handoffs TO "{app_role}";
GRANT UPDATE (queue_status, assignee, done_at, detail) ON cases TO "{app_role}";
GRANT UPDATE (amount) ON usage TO "{app_role}";
GRANT UPDATE (status, answer, request_digest, created_at) ON idempotency_keys TO "{app_role}";
GRANT DELETE ON idempotency_keys TO "{app_role}";

-- How much waits for Temporal, over all tenants: two numbers, so that the api can show them as a metric.
CREATE FUNCTION outbox_lag() RETURNS TABLE (waiting bigint, oldest_s double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT count(*), coalesce(extract(epoch FROM now() - min(created_at)), 0)::double precision
      FROM outbox WHERE delivered_at IS NULL
$$;
GRANT EXECUTE ON FUNCTION outbox_lag() TO "{app_role}", "{relay_role}";

-- The relay sees identifiers of every tenant and nothing else; it marks what it has delivered.
GRANT SELECT (id, kind) ON tenants TO "{relay_role}";
GRANT SELECT (id, tenant_id, owner, owner_epoch, version, customer_seq, answered_seq, consumed_seq, updated_at)
    ON conversations TO "{relay_role}";
GRANT SELECT (operation_id, tenant_id, conversation_id, state, owner_epoch, created_at, sent_at) ON actions TO "{relay_role}";
GRANT SELECT (id, tenant_id, conversation_id, queue_status) ON handoffs TO "{relay_role}";
GRANT SELECT ON outbox TO "{relay_role}";
GRANT UPDATE (delivered_at, attempts, next_attempt_at) ON outbox TO "{relay_role}";
GRANT DELETE ON outbox TO "{relay_role}";
-- INVARIANT 1: what is not delivered cannot be forgotten.
CREATE POLICY only_delivered ON outbox AS RESTRICTIVE FOR DELETE TO "{relay_role}" USING (delivered_at IS NOT NULL);
