-- Tickets and webhooks: a tenant's secrets, what its help desk has sent, and what is to be delivered to it.
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '5min';

-- Sealed by the product under a key that the database never sees.
CREATE TABLE tenant_secrets (
    tenant_id text NOT NULL REFERENCES tenants (id),
    name      text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_.-]{0,63}$'),
    sealed    text NOT NULL,
    made_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name)
);

-- ---------------------------------------------------------------- what came in
-- A ticket of the help desk is one conversation of whoever asked for help: of the one whom its first event named.
CREATE TABLE tickets (
    tenant_id       text NOT NULL,
    ticket_id       text NOT NULL,
    conversation_id text NOT NULL UNIQUE,
    requester_id    text NOT NULL,                      -- as the help desk knows them
    principal_kind  text NOT NULL CHECK (principal_kind IN ('customer', 'anonymous')),
    principal_id    text NOT NULL,
    subject         text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    closed_at       timestamptz,                        -- in the help desk; it ends nothing here
    PRIMARY KEY (tenant_id, ticket_id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);
-- INVARIANT 8: whose a ticket is never changes, whoever writes in it later.
CREATE FUNCTION guard_ticket() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.ticket_id, NEW.conversation_id, NEW.requester_id, NEW.principal_kind, NEW.principal_id)
       IS DISTINCT FROM (OLD.ticket_id, OLD.conversation_id, OLD.requester_id, OLD.principal_kind, OLD.principal_id) THEN
        RAISE EXCEPTION 'interlock: whose a ticket is never changes' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER tickets_guard BEFORE UPDATE ON tickets FOR EACH ROW EXECUTE FUNCTION guard_ticket();

-- What others than the requester wrote in a ticket. Staff read it; it is in no log, so that it can drive nothing.
CREATE TABLE ticket_copies (
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    message_id      text NOT NULL,
    author_id       text NOT NULL,
    text            text NOT NULL,
    at              timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (conversation_id, message_id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);

-- INVARIANT 1: what the help desk sends is taken once, by the id that it gives it; its first answer is kept.
CREATE TABLE ticket_posts (
    tenant_id       text NOT NULL REFERENCES tenants (id),
    webhook_id      text NOT NULL,
    body_digest     text NOT NULL,
    conversation_id text NOT NULL,
    seq             integer,
    received_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, webhook_id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id)
);
CREATE INDEX ticket_posts_age ON ticket_posts (tenant_id, received_at);

-- ---------------------------------------------------------------- what goes out
CREATE TABLE webhooks (
    tenant_id  text NOT NULL REFERENCES tenants (id),
    id         text NOT NULL,
    url        text NOT NULL,
    types      text[] NOT NULL CHECK (cardinality(types) > 0 AND types <@ ARRAY['reply', 'tag', 'handoff', 'action']),
    active     boolean NOT NULL DEFAULT true,
    made_by    text NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,                             -- its deliveries stay on record
    busy_until timestamptz NOT NULL DEFAULT now(),      -- who delivers to it holds it until then: one at a time
    PRIMARY KEY (tenant_id, id),
    CHECK (removed_at IS NULL OR NOT active)
);
CREATE INDEX webhooks_active ON webhooks (busy_until) WHERE active;

-- A delivery names a fact and holds none of its words: what is sent is made from the log when it is sent.
CREATE TABLE webhook_deliveries (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id      uuid NOT NULL DEFAULT gen_random_uuid(),   -- `webhook-id`: the same at every try
    tenant_id       text NOT NULL,
    webhook_id      text NOT NULL,
    conversation_id text NOT NULL,
    type            text NOT NULL CHECK (type IN ('reply', 'tag', 'handoff', 'action')),
    seq             integer,                            -- the event that it tells of
    tag_id          bigint,                             -- or the tag, and whether it was put on or taken off
    tag_added       boolean,
    unless_seen     boolean NOT NULL,                   -- a reply in a chat: only for who has gone
    state           text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'seen', 'dead')),
    attempts        integer NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL DEFAULT now(),
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    settled_at      timestamptz,
    last_status     integer,                            -- the last answer's, where there was one
    last_fault      text,                               -- a label
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    -- It tells of an event or of a tag, and of nothing else.
    CHECK ((type = 'tag') = (tag_id IS NOT NULL) AND (type = 'tag') = (tag_added IS NOT NULL) AND (type = 'tag') = (seq IS NULL)),
    CHECK ((state = 'waiting') = (settled_at IS NULL))
);
-- In the order in which it happened: what is first to be delivered of a conversation to a webhook.
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (tenant_id, webhook_id, conversation_id, id)
    WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_of_conversation ON webhook_deliveries (tenant_id, conversation_id, id);
CREATE INDEX webhook_deliveries_of_tenant ON webhook_deliveries (tenant_id, id);
CREATE INDEX webhook_deliveries_of_state ON webhook_deliveries (tenant_id, state, id);
CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (settled_at) WHERE state IN ('delivered', 'seen');

-- A delivery is never half settled, and only a replay lets one wait again.
CREATE FUNCTION guard_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> NEW.state AND OLD.state <> 'waiting' AND NEW.state <> 'waiting' THEN
        RAISE EXCEPTION 'interlock: a settled delivery waits again before it settles again' USING ERRCODE = 'check_violation';
    END IF;
    IF OLD.state <> NEW.state OR OLD.last_fault IS DISTINCT FROM NEW.last_fault THEN
        PERFORM pg_notify('interlock_events', NEW.tenant_id || ' ' || NEW.conversation_id || ' 0');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER webhook_deliveries_guard BEFORE UPDATE ON webhook_deliveries
    FOR EACH ROW EXECUTE FUNCTION guard_delivery();

-- INVARIANT 1: what is to be told is written down in the transaction in which it happens, by the database itself.
CREATE FUNCTION deliver_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO webhook_deliveries (tenant_id, webhook_id, conversation_id, type, seq, unless_seen)
    SELECT w.tenant_id, w.id, c.id, told.type, NEW.seq, told.type = 'reply' AND c.channel = 'chat'
      FROM webhooks w
      JOIN conversations c ON c.tenant_id = NEW.tenant_id AND c.id = NEW.conversation_id
      CROSS JOIN LATERAL unnest(w.types) WITH ORDINALITY AS told (type, n)
     WHERE w.tenant_id = NEW.tenant_id AND w.active
       AND CASE told.type
           WHEN 'reply' THEN NEW.kind IN ('bot_reply', 'staff_reply', 'notice', 'proposal', 'action_state')
           WHEN 'handoff' THEN NEW.kind = 'handoff'
           WHEN 'action' THEN NEW.kind IN ('proposal', 'action_state')
           ELSE false END
     ORDER BY w.id, told.n;
    RETURN NULL;
END $$;
CREATE TRIGGER events_delivered AFTER INSERT ON events FOR EACH ROW
    WHEN (NEW.kind IN ('bot_reply', 'staff_reply', 'notice', 'proposal', 'action_state', 'handoff'))
    EXECUTE FUNCTION deliver_event();

CREATE FUNCTION deliver_tag() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO webhook_deliveries (tenant_id, webhook_id, conversation_id, type, tag_id, tag_added, unless_seen)
    SELECT w.tenant_id, w.id, NEW.conversation_id, 'tag', NEW.id, NEW.removed_at IS NULL, false
      FROM webhooks w
     WHERE w.tenant_id = NEW.tenant_id AND w.active AND 'tag' = ANY (w.types)
     ORDER BY w.id;
    RETURN NULL;
END $$;
CREATE TRIGGER tags_put_on_delivered AFTER INSERT ON tags FOR EACH ROW EXECUTE FUNCTION deliver_tag();
CREATE TRIGGER tags_taken_off_delivered AFTER UPDATE OF removed_at ON tags FOR EACH ROW
    WHEN (OLD.removed_at IS NULL AND NEW.removed_at IS NOT NULL) EXECUTE FUNCTION deliver_tag();

-- ---------------------------------------------------------------- INVARIANT 8: nothing of one tenant is readable by another
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['tenant_secrets', 'tickets', 'ticket_copies', 'ticket_posts', 'webhooks',
        'webhook_deliveries'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY of_tenant ON %I TO "{app_role}"
            USING (tenant_id = (SELECT current_setting(''interlock.tenant'', true)))
            WITH CHECK (tenant_id = (SELECT current_setting(''interlock.tenant'', true)))', t);
    END LOOP;
    FOREACH t IN ARRAY ARRAY['webhooks', 'webhook_deliveries'] LOOP
        EXECUTE format('CREATE POLICY of_relay ON %I TO "{relay_role}" USING (true) WITH CHECK (true)', t);
    END LOOP;
END $$;

GRANT SELECT ON tenant_secrets, tickets, ticket_copies, ticket_posts, webhooks, webhook_deliveries TO "{app_role}";
GRANT INSERT, UPDATE (sealed, made_at), DELETE ON tenant_secrets TO "{app_role}";
GRANT INSERT (tenant_id, ticket_id, conversation_id, requester_id, principal_kind, principal_id, subject),
    UPDATE (closed_at) ON tickets TO "{app_role}";
GRANT INSERT ON ticket_copies TO "{app_role}";
GRANT INSERT, DELETE ON ticket_posts TO "{app_role}";
GRANT INSERT (tenant_id, id, url, types, active, made_by), UPDATE (active, removed_at) ON webhooks TO "{app_role}";
-- A delivery comes into being by its fact alone; the product lets one wait again.
GRANT UPDATE (state, attempts, next_attempt_at, settled_at, unless_seen, last_fault) ON webhook_deliveries TO "{app_role}";

-- The relay sees what is due and writes down what became of it; where it goes and what it says is not for its eyes.
GRANT SELECT (tenant_id, id, active, busy_until), UPDATE (busy_until) ON webhooks TO "{relay_role}";
GRANT SELECT (id, message_id, tenant_id, webhook_id, conversation_id, type, seq, tag_id, tag_added, unless_seen, state, attempts, created_at,
    next_attempt_at, settled_at, last_fault), UPDATE (state, attempts, next_attempt_at, settled_at, last_status, last_fault), DELETE
    ON webhook_deliveries TO "{relay_role}";
-- What waits cannot be forgotten, and what is dead not for months: it can be told again.
CREATE POLICY only_settled ON webhook_deliveries AS RESTRICTIVE FOR DELETE TO "{relay_role}"
    USING (state IN ('delivered', 'seen') OR (state = 'dead' AND settled_at < now() - interval '90 days'));
