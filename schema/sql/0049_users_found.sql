-- Users by how an email or an alternate_id begins. Whatever the order of the database's language is, these are in bytes.
create index app_user_email_begins on app_user (email collate "C");
create index app_user_alternate_begins on app_user (alternate_id collate "C");
