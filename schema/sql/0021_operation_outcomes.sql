-- The outcome of a request with an Idempotency-Key, stored by the statement that commits its effect. After a crash, a retry
-- makes the response from it. It is removed when the response is stored.
alter table idempotency_key
  add column outcome      text,                -- encrypted, because it can contain secrets
  add column outcome_rows jsonb,               -- the rows that the statement returned
  add column committed_at timestamptz;
