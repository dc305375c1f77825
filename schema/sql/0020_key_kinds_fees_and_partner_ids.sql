-- Kinds of the keys that activate codes, fees of organizations, and the ids that partners give to users.

-- How the key signs. Keys that are listed now, or by the release before, sign with Ed25519.
alter table code_pubkey add column kind text not null default 'ed25519' check (kind in ('ed25519', 'ristretto255'));
alter table code_pubkey add column run uuid;   -- the operation key of the request that listed the key

-- The shares of an order item's price that are recorded for the organization (client) and the operator (company), in hundredths of
-- a percent. Orders store the fees of their checkout, so a change applies to later checkouts.
alter table organization add column client_fee_basis_points int not null default 0
  check (client_fee_basis_points between 0 and 10000);
alter table organization add column company_fee_basis_points int not null default 0
  check (company_fee_basis_points between 0 and 10000);
alter table organization add constraint organization_fees check (client_fee_basis_points + company_fee_basis_points <= 10000);

-- The partner's own ids for the user, sent at the registration or in a partner link. They are returned unchanged.
alter table app_user add column partner_conversion_id text;
alter table app_user add column partner_transaction_id text;
