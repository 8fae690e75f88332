-- Calls to models, as they were made: labels, numbers and times. Budgets are reckoned from these rows, and so are costs.
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '5min';

-- `answered_seq` is what the turn that asked had begun with: it tells the turns of a conversation apart, over all their steps.
CREATE TABLE model_calls (
    call_id         text PRIMARY KEY,
    tenant_id       text NOT NULL,
    conversation_id text NOT NULL,
    answered_seq    integer NOT NULL CHECK (answered_seq >= 0),
    step_id         text NOT NULL,
    role            text NOT NULL CHECK (role IN ('understand', 'draft')),
    route           text NOT NULL CHECK (route IN ('small', 'large')),
    endpoint        text NOT NULL,
    model           text NOT NULL,
    prompt          text NOT NULL,
    outcome         text NOT NULL CHECK (outcome IN ('ok', 'timeout', 'unreachable', 'rate_limited', 'server_error',
                        'refused', 'cut_off', 'malformed', 'too_long', 'circuit_open', 'over_budget')),
    label           text NOT NULL,
    input_tokens    bigint NOT NULL CHECK (input_tokens >= 0),
    output_tokens   bigint NOT NULL CHECK (output_tokens >= 0),
    cost_micros     bigint NOT NULL CHECK (cost_micros >= 0),
    currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    duration_ms     integer NOT NULL CHECK (duration_ms >= 0),
    tool_steps      integer NOT NULL CHECK (tool_steps >= 0),
    at              timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
    -- What was not asked has cost nothing.
    CHECK (outcome NOT IN ('too_long', 'circuit_open', 'over_budget') OR (input_tokens, output_tokens, cost_micros) = (0, 0, 0))
);
CREATE INDEX model_calls_of_conversation ON model_calls (conversation_id, answered_seq);
CREATE INDEX model_calls_of_tenant ON model_calls (tenant_id, at);

-- INVARIANT 8: nothing of one tenant is readable by another.
ALTER TABLE model_calls ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON model_calls TO "{app_role}"
    USING (tenant_id = (SELECT current_setting('interlock.tenant', true)))
    WITH CHECK (tenant_id = (SELECT current_setting('interlock.tenant', true)));
-- Append-only: a call that was made stays made.
GRANT SELECT, INSERT ON model_calls TO "{app_role}";
