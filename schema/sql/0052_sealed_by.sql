-- Which master secrets wallets are sealed by: a few, told apart without a look at every wallet.
create index pubkey_sealed_by on pubkey (split_part(sealed_key, '.', 2)) where sealed_key is not null;
