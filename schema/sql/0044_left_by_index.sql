-- Whoever leaves is forgotten by indexes: without them every mailed link and every payment method of everybody was looked at,
-- while the account was locked. Methods that were forgotten are found too.
create index magic_link_user on magic_link (user_id) where user_id is not null;
create index magic_link_email on magic_link (email);
create index payment_method_of_user on payment_method (user_id, created_at);
drop index payment_method_user;
alter index payment_method_of_user rename to payment_method_user;
