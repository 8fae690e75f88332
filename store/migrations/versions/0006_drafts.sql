-- Drafts that wait for a person of the staff (stage draft_only), and what became of them: kept whole, as a measure.
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '5min';

-- What was drafted never changes; `behind` is what staff see behind the reply once it is in the log.
CREATE TABLE drafts (
    draft_id        text PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    owner_epoch     integer NOT NULL CHECK (owner_epoch >= 1),
    answered_seq    integer NOT NULL CHECK (answered_seq >= 0),
    through_seq     integer NOT NULL,
    step_id         text NOT NULL,
    language        text NOT NULL,
    intent          text,
    author          text NOT NULL CHECK (author IN ('local', 'model')),
    text            text NOT NULL,
    segments        jsonb NOT NULL,
    draft_digest    text NOT NULL,
    behind          jsonb NOT NULL,
    made_at         timestamptz NOT NULL,
    state           text NOT NULL DEFAULT 'waiting'
                        CHECK (state IN ('waiting', 'accepted', 'edited', 'rejected', 'superseded')),
    ended_at        timestamptz,
    cause           text CHECK (cause IN ('newer_message', 'owner_changed', 'answered', 'facts_old', 'facts_changed',
                        'renewed')),
    decided_by      text,
    request_id      text,
    reason          text,                               -- the words of whoever rejected it
    said            text,                               -- what an editor made of it
    change_permille integer CHECK (change_permille BETWEEN 0 AND 1000),
    seq             integer,                            -- of the reply that it became
    CHECK (through_seq > answered_seq),
    -- INVARIANT 1: a step that runs again after a crash finds the draft that it has kept, and cannot keep it twice.
    UNIQUE (conversation_id, step_id),
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    -- Each end has its own facts, and no draft those of two.
    CHECK ((state = 'waiting') = (ended_at IS NULL)),
    CHECK ((state = 'superseded') = (cause IS NOT NULL)),
    CHECK ((state IN ('accepted', 'edited', 'rejected')) = (decided_by IS NOT NULL)),
    CHECK ((decided_by IS NULL) = (request_id IS NULL)),
    CHECK ((state IN ('accepted', 'edited')) = (seq IS NOT NULL)),
    CHECK ((state IN ('accepted', 'edited')) = (change_permille IS NOT NULL)),
    CHECK ((state = 'edited') = (said IS NOT NULL)),
    CHECK ((state = 'rejected') = (reason IS NOT NULL))
);
-- INVARIANT 1: one draft at a time stands for what is unanswered, so that it is answered once.
CREATE UNIQUE INDEX drafts_of_conversation ON drafts (conversation_id) WHERE state = 'waiting';
CREATE INDEX drafts_waiting ON drafts (tenant_id, made_at, draft_id) WHERE state = 'waiting';
CREATE INDEX drafts_ended ON drafts (tenant_id, ended_at DESC, draft_id DESC) WHERE state <> 'waiting';

-- INVARIANT 3: a draft leaves `waiting` once, and becomes a reply only while the bot owns the conversation, at the epoch
-- that it was drafted in, and nobody has written since.
CREATE FUNCTION guard_draft() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> 'waiting' OR NEW.state = 'waiting' THEN
        RAISE EXCEPTION 'interlock: a draft is decided once' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.state IN ('accepted', 'edited') AND NOT EXISTS (
        SELECT FROM conversations c
         WHERE c.id = NEW.conversation_id AND c.owner = 'bot' AND c.owner_epoch = OLD.owner_epoch
           AND c.customer_seq = OLD.through_seq) THEN
        RAISE EXCEPTION 'interlock: the moment of this draft has passed' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER drafts_guard BEFORE UPDATE ON drafts FOR EACH ROW EXECUTE FUNCTION guard_draft();

-- INVARIANTS 1, 3: whatever ends the moment of a draft ends the draft, in the same transaction and under the same lock. A
-- draft that waits is hence always of this owner and of the customer's last message.
CREATE FUNCTION supersede_drafts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE drafts
       SET state = 'superseded', ended_at = clock_timestamp(),
           cause = CASE WHEN owner_epoch <> NEW.owner_epoch THEN 'owner_changed'
                        WHEN through_seq < NEW.customer_seq THEN 'newer_message' ELSE 'answered' END
     WHERE conversation_id = NEW.id AND state = 'waiting'
       AND (owner_epoch <> NEW.owner_epoch OR through_seq < NEW.customer_seq OR through_seq <= NEW.answered_seq);
    RETURN NULL;
END $$;
CREATE TRIGGER conversations_drafts AFTER UPDATE ON conversations FOR EACH ROW
    WHEN ((OLD.owner_epoch, OLD.customer_seq, OLD.answered_seq)
          IS DISTINCT FROM (NEW.owner_epoch, NEW.customer_seq, NEW.answered_seq))
    EXECUTE FUNCTION supersede_drafts();

-- What becomes of a draft has no event of its own in the customer's log, and rings the bells of staff all the same.
CREATE FUNCTION tell_of_draft() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('interlock_events', NEW.tenant_id || ' ' || NEW.conversation_id || ' 0');
    RETURN NULL;
END $$;
CREATE TRIGGER drafts_told AFTER INSERT OR UPDATE ON drafts FOR EACH ROW EXECUTE FUNCTION tell_of_draft();

-- INVARIANT 8: nothing of one tenant is readable by another.
ALTER TABLE drafts ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON drafts TO "{app_role}"
    USING (tenant_id = (SELECT current_setting('interlock.tenant', true)))
    WITH CHECK (tenant_id = (SELECT current_setting('interlock.tenant', true)));
GRANT SELECT ON drafts TO "{app_role}";
-- What progresses begins at its beginning, and what was drafted stays as it was.
GRANT INSERT (draft_id, tenant_id, conversation_id, owner_epoch, answered_seq, through_seq, step_id, language, intent,
    author, text, segments, draft_digest, behind, made_at) ON drafts TO "{app_role}";
GRANT UPDATE (state, ended_at, cause, decided_by, request_id, reason, said, change_permille, seq)
    ON drafts TO "{app_role}";
-- The sweep passes over what waits for a person: the relay sees which conversations have a draft, and no word of it.
CREATE POLICY of_relay ON drafts FOR SELECT TO "{relay_role}" USING (true);
GRANT SELECT (conversation_id, state) ON drafts TO "{relay_role}";
