-- As the one of four parameters, which processes of the version before still call; but only for the secret whose code was
-- checked: a set-up may be begun anew, with another secret, between that and this.
create function confirm_two_factor(p_user uuid, p_attempt uuid, p_step bigint, p_sealed_secret text, p_sms text[])
returns text language plpgsql as $$
declare replaced boolean;
begin
  if p_step is not null then
    select sealed_secret is distinct from p_sealed_secret into replaced from two_factor
     where user_id = p_user and provider = 'AuthenticatorApp' for update;
    if replaced then return null; end if;
  end if;
  return confirm_two_factor(p_user, p_attempt, p_step, p_sms);
end $$;
