-- When a buyer chose another payment method instead of this intent. Its page then says so.
alter table sandbox_intent add column replaced_at timestamptz;
