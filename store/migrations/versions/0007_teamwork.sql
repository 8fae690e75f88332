-- What people do around a conversation: tags, notes, who it is assigned to, until when it sleeps, who is looking at it,
-- saved views, ratings, and backtests that were kept. None of it is in the log, and none of it moves anything.
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '5min';

-- ---------------------------------------------------------------- tags
-- A tag that was taken off stays as a row: what people left of the bot's tags is how good the bot tags.
CREATE TABLE tags (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    tag             text NOT NULL CHECK (char_length(tag) BETWEEN 1 AND 48 AND tag !~ '\s'),
    source          text NOT NULL CHECK (source IN ('bot', 'staff')),
    added_by        text NOT NULL,                      -- kind:id
    added_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    removed_by      text,
    removed_at      timestamptz,
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    CHECK ((removed_by IS NULL) = (removed_at IS NULL)),
    -- Who the bot is stands in its tags, so that nobody's tag passes for another's.
    CHECK ((source = 'bot') = (added_by LIKE 'bot:%'))
);
-- A conversation has a tag once.
CREATE UNIQUE INDEX tags_once ON tags (conversation_id, tag) WHERE removed_at IS NULL;
CREATE INDEX tags_in_use ON tags (tenant_id, tag) WHERE removed_at IS NULL;
CREATE INDEX tags_of_bot ON tags (conversation_id, tag) WHERE source = 'bot';

-- What a turn understood the customer to need becomes tags, in the transaction of that turn. What a person has taken off is
-- not put on again.
CREATE FUNCTION tag_understood() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    needs text[] := ARRAY['order_status', 'refund_request', 'damaged_item', 'missing_item', 'duplicate_charge',
                          'cancel_order', 'cancel_subscription', 'change_plan', 'change_address', 'account_access',
                          'action_status', 'out_of_scope'];
    told text[] := ARRAY[coalesce(NEW.body ->> 'meant', NEW.body ->> 'intent')];
BEGIN
    IF jsonb_typeof(NEW.body -> 'intents') = 'array' THEN
        told := told || ARRAY(SELECT jsonb_array_elements_text(NEW.body -> 'intents'));
    END IF;
    INSERT INTO tags (tenant_id, conversation_id, tag, source, added_by)
    SELECT DISTINCT NEW.tenant_id, NEW.conversation_id, label, 'bot', NEW.actor
      FROM unnest(told) AS label
     WHERE label = ANY (needs)
       AND NOT EXISTS (SELECT FROM tags t WHERE t.conversation_id = NEW.conversation_id AND t.tag = label
                          AND (t.removed_at IS NULL OR t.source = 'bot'))
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER events_tag AFTER INSERT ON events FOR EACH ROW
    WHEN (NEW.kind = 'understanding' AND NEW.actor LIKE 'bot:%') EXECUTE FUNCTION tag_understood();

-- ---------------------------------------------------------------- notes
-- For people alone; no model reads them. The id is the author's own, so that a repeat is known.
CREATE TABLE notes (
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    note_id         text NOT NULL,
    author          text NOT NULL,                      -- a member of staff, by id
    text            text NOT NULL CHECK (text <> ''),
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (conversation_id, note_id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    FOREIGN KEY (tenant_id, author) REFERENCES staff (tenant_id, id)
);

-- ---------------------------------------------------------------- whose it is, and until when it sleeps
CREATE TABLE assignments (
    conversation_id text PRIMARY KEY,
    tenant_id       text NOT NULL,
    staff_id        text NOT NULL,
    assigned_by     text NOT NULL,                      -- kind:id
    assigned_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    FOREIGN KEY (tenant_id, staff_id) REFERENCES staff (tenant_id, id)
);
CREATE INDEX assignments_of_staff ON assignments (tenant_id, staff_id);

-- It sleeps while `until_at` is to come and the customer has written nothing after `customer_seq`; nothing runs to wake it.
CREATE TABLE snoozes (
    conversation_id text PRIMARY KEY,
    tenant_id       text NOT NULL,
    until_at        timestamptz NOT NULL,
    customer_seq    integer NOT NULL CHECK (customer_seq >= 0),
    snoozed_by      text NOT NULL,                      -- kind:id
    snoozed_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);

-- ---------------------------------------------------------------- who is there
-- True for seconds and worth nothing after a crash: not in the write-ahead log.
CREATE UNLOGGED TABLE presences (
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    principal       text NOT NULL,                      -- kind:id
    state           text NOT NULL CHECK (state IN ('looking', 'typing')),
    at              timestamptz NOT NULL,               -- since when in this state
    until_at        timestamptz NOT NULL,
    PRIMARY KEY (conversation_id, principal),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);

-- How far the customer has seen the log.
CREATE TABLE seen (
    conversation_id text PRIMARY KEY,
    tenant_id       text NOT NULL,
    seq             integer NOT NULL CHECK (seq >= 0),
    seen_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);
-- What was seen stays seen.
CREATE FUNCTION guard_seen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq < OLD.seq THEN
        RAISE EXCEPTION 'interlock: what was seen stays seen' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER seen_guard BEFORE UPDATE ON seen FOR EACH ROW EXECUTE FUNCTION guard_seen();

-- ---------------------------------------------------------------- views
CREATE TABLE saved_views (
    tenant_id       text NOT NULL,
    id              text NOT NULL,
    name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
    filters         jsonb NOT NULL CHECK (jsonb_typeof(filters) = 'object'),
    shared          boolean NOT NULL DEFAULT false,
    owner           text NOT NULL,                      -- a member of staff, by id
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, owner) REFERENCES staff (tenant_id, id)
);

-- ---------------------------------------------------------------- ratings
-- An answer is rated once, by whom it was given to; they may think again for an hour.
CREATE TABLE answer_ratings (
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    seq             integer NOT NULL,                   -- of the answer
    score           integer NOT NULL CHECK (score BETWEEN 1 AND 5),
    comment         text,
    rated_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at      timestamptz,
    PRIMARY KEY (conversation_id, seq),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);
CREATE INDEX answer_ratings_of_tenant ON answer_ratings (tenant_id, rated_at);

-- A handoff is rated by the person who received it: how good it was, and whether it was right to call them.
CREATE TABLE handoff_ratings (
    tenant_id         text NOT NULL,
    handoff_id        text NOT NULL,
    rated_by          text NOT NULL,                    -- a member of staff, by id
    score             integer NOT NULL CHECK (score BETWEEN 1 AND 5),
    right_to_escalate boolean NOT NULL,
    note              text,
    rated_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (handoff_id),
    FOREIGN KEY (tenant_id, handoff_id) REFERENCES handoffs (tenant_id, id),
    FOREIGN KEY (tenant_id, rated_by) REFERENCES staff (tenant_id, id)
);
CREATE INDEX handoff_ratings_of_tenant ON handoff_ratings (tenant_id, rated_at);

-- ---------------------------------------------------------------- backtests that were kept
CREATE TABLE policy_backtests (
    id              text PRIMARY KEY,
    tenant_id       text NOT NULL REFERENCES tenants (id),
    report          jsonb NOT NULL,                     -- as the command tells it
    kept_at         timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX policy_backtests_of_tenant ON policy_backtests (tenant_id, kept_at DESC);

-- ---------------------------------------------------------------- INVARIANT 8: nothing of one tenant is readable by another
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['tags', 'notes', 'assignments', 'snoozes', 'presences', 'seen', 'saved_views',
        'answer_ratings', 'handoff_ratings', 'policy_backtests'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY of_tenant ON %I TO "{app_role}"
            USING (tenant_id = (SELECT current_setting(''interlock.tenant'', true)))
            WITH CHECK (tenant_id = (SELECT current_setting(''interlock.tenant'', true)))', t);
        EXECUTE format('GRANT SELECT, INSERT ON %I TO "{app_role}"', t);
    END LOOP;
END $$;
-- A tag is taken off once, and never in another's name afterwards.
CREATE POLICY removed_once ON tags AS RESTRICTIVE FOR UPDATE TO "{app_role}" USING (removed_at IS NULL)
    WITH CHECK (true);
-- A note may be taken back while it is fresh; then it stays.
CREATE POLICY while_fresh ON notes AS RESTRICTIVE FOR DELETE TO "{app_role}" USING (at > now() - interval '10 minutes');
-- A rating may be thought over for an hour; then it stays. The product refuses first: its clock may be seconds behind.
CREATE POLICY within_the_hour ON answer_ratings AS RESTRICTIVE FOR UPDATE TO "{app_role}"
    USING (rated_at > now() - interval '1 hour 30 seconds');

GRANT UPDATE (removed_by, removed_at) ON tags TO "{app_role}";
GRANT UPDATE (staff_id, assigned_by, assigned_at) ON assignments TO "{app_role}";
GRANT UPDATE (until_at, customer_seq, snoozed_by, snoozed_at) ON snoozes TO "{app_role}";
GRANT UPDATE (state, at, until_at) ON presences TO "{app_role}";
GRANT UPDATE (seq, seen_at) ON seen TO "{app_role}";
GRANT UPDATE (score, comment, changed_at) ON answer_ratings TO "{app_role}";
GRANT UPDATE (score, right_to_escalate, note, rated_at) ON handoff_ratings TO "{app_role}";
GRANT DELETE ON notes, assignments, snoozes, presences, saved_views TO "{app_role}";
