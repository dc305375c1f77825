-- Ed25519 keys that sign proofs of answers. The number orders the keys, and lets only one process create the first one.
create table signing_key (
  number     int         primary key,
  kid        text        not null unique,             -- the JWK thumbprint (RFC 7638) of the public key
  public_key text        not null,                    -- 32 bytes in base64url, the member x of the JWK
  sealed_key text        not null,
  not_before timestamptz not null,                    -- the key is published before it signs from this time on
  not_after  timestamptz,                             -- no proof of the key expires later; the key is published until then
  created_at timestamptz not null default now()
);
