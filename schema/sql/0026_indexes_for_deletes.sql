-- Deleting an OAuth client or an organization must not read all codes and visits.
create index authorization_code_client on authorization_code (client_id);
create index partner_visit_organization on partner_visit (organization_id);
-- The return links that the start of a process warns about.
create index organization_plain_link on organization (created_at) where return_link ilike 'http:%';
