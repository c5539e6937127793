-- The database of this number: it is created, changed or dropped. Prints what fails as JSON. Neither CREATE nor DROP DATABASE can be
-- in a transaction.
\set ON_ERROR_STOP on
\set declared `cat "$RUN/declared.json"`
select it ->> 'name' as name, it ->> 'ensure' = 'present' as is_present, it ->> 'owner' as owner, it ->> 'connectionLimit' as connections
  from jsonb_extract_path(:'declared'::jsonb, 'databases', :'index') it \gset
\set ON_ERROR_STOP off
\if :is_present
select format('create database %I owner %I', :'name', :'owner')
  where not exists (select from pg_database where datname = :'name') \gexec
\if :ERROR
\else
select format('alter database %I owner to %I', :'name', :'owner')
  where exists (select from pg_database where datname = :'name' and pg_get_userbyid(datdba) <> :'owner') \gexec
\endif
\if :ERROR
\else
select format('alter database %I connection limit %s', :'name', :connections)
  where exists (select from pg_database where datname = :'name' and datconnlimit <> :connections) \gexec
\endif
\else
select format('drop database %I', :'name') where exists (select from pg_database where datname = :'name') \gexec
\endif
\if :ERROR
select jsonb_build_object('kind', 'database', 'name', :'name', 'message', :'LAST_ERROR_MESSAGE');
\endif
