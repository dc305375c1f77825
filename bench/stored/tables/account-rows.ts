import type { RowsOf } from "./rows.ts"

/** What belongs to accounts. Row n belongs to user n. */
export const accountRows: RowsOf = {
  two_factor: ({ user }) => `
    (user_id, provider, sealed_secret) select ${user}, 'AuthenticatorApp', 'bench' from n`,
  two_factor_failure: ({ user }) => `(user_id, wrong_codes) select ${user}, 1 from n`,
  sms_code: ({ user }) => `
    (user_id, for_setup, hash, expires_at) select ${user}, false, 'bench', now() + interval '1 hour' from n`,
  magic_link: ({ user }) => `
    (token_hash, user_id, email, purpose, expires_at)
    select md5('link ' || n), ${user}, 'bench-' || n || '@example.com', 'login', now() + make_interval(hours => 1, secs => n) from n`,
  api_key: ({ user }) => `
    (id, user_id, name, secret_hash, scopes) select 'bench-' || n, ${user}, 'till', md5(n::text), '{emoji::transfer}' from n`,
  user_feature: ({ user }) => `
    (user_id, feature_id)
    select ${user}, f.id from n join (select id, row_number() over () - 1 as place, count(*) over () as places from feature) f
        on n % places = place`,
  session_use: ({ user }) =>
    `(session_id, used_at) select ${user}, now() - make_interval(secs => n % 86400) from n`,
  security_log: ({ user }) => `
    (id, user_id, event, via, at, last_at)
    select ${user}, ${user}, 'login.succeeded', 'session', at, at
      from (select n, now() - make_interval(secs => n % 86400) as at from n) n`,
  wrong_transfer_code: ({ user }) => `
    (id, user_id, eid, at) select ${user}, ${user}, '🌊🚀', now() - make_interval(secs => n % 600) from n`,
  pubkey: ({ masterKey, organization, user }) => `
    (pubkey, user_id, organization_id, sealed_key, has_had_ids)
    select md5(${user}::text) || md5('end' || ${user}), ${user}, case when n % 2 = 0 then ${organization} end, 'v1.${masterKey}.' || n, true from n`,
  wallet: ({ user }) =>
    `(user_id, eth_address, source) select ${user}, '0x' || left(md5('eth ' || n), 40), 'Mint' from n`,
  payment_method: ({ user }) => `
    (id, user_id, provider, payment_type, brand, last4) select 'pm_bench_' || n, ${user}, 'sandbox', 'card', 'visa', '4242' from n`,
  organization: ({ organization }) => `
    (id, name, partner_path, created_at)
    select ${organization}, 'Organization ' || n, 'bench-' || n, now() - make_interval(secs => n % 1000000) from n`,
  organization_member: ({ organization, user }) => `
    (organization_id, user_id, role) select ${organization}, ${user}, 'OrgOwner' from n`,
  code_budget: ({ organization }) => `(organization_id, granted_cents) select ${organization}, 1000 from n`,
  oauth_client: ({ organization }) => `
    (client_id, organization_id, name, secret_hash, redirect_uris)
    select 'bench-' || n, ${organization}, 'an application', 'bench', '{https://app.example/back}' from n`,
  oauth_grant: ({ user }) => `
    (id, client_id, user_id, emoji_id, epoch, expires_at, revoked_at)
    select ${user}, 'bench-' || n, ${user}, '🌊🚀', 0, now() + make_interval(hours => 1, secs => n), case when n % 2 = 0 then now() end
      from n`,
  authorization_code: ({ user }) => `
    (jti, client_id, user_id, grant_id, expires_at)
    select ${user}, 'bench-' || n, ${user}, ${user}, now() + make_interval(hours => 1, secs => n) from n`,
  partner_visit: ({ organization, user }) => `
    (token_hash, organization_id, flow, user_id, sealed_state, order_id, written_at, expires_at)
    select md5('visit ' || n), ${organization}, 'get', ${user}, 'bench', case when n % 2 = 0 then ${user} end, now(),
           now() + make_interval(hours => 1, secs => n) from n`,
}
